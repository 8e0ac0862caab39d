{{/* The name of all objects: that of the release. */}}
{{- define "toolsmith.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* What selects the Pods of this release. */}}
{{- define "toolsmith.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "toolsmith.labels" -}}
{{ include "toolsmith.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- define "toolsmith.serviceAccount" -}}
{{- default (include "toolsmith.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "toolsmith.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* toolsmith.yaml: the configuration with the names of the Service, the metrics, the time in which load balancers
     remove a replica, and the lowest accepted tier. */}}
{{- define "toolsmith.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- if not $config.mcpServers -}}
{{- fail "config.mcpServers is empty: add the MCP servers, as in toolsmith.yaml; dist/deploy/values/demo.yaml has an example" -}}
{{- end -}}
{{- $serve := default dict $config.serve -}}
{{- $name := include "toolsmith.name" . -}}
{{- $hosts := list $name -}}
{{- range $suffix := list "" ".svc" ".svc.cluster.local" -}}
{{- $hosts = append $hosts (printf "%s.%s%s" $name $.Release.Namespace $suffix) -}}
{{- end -}}
{{- $_ := set $serve "hosts" (concat $hosts .Values.hosts (default list $serve.hosts) | uniq) -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := set $serve "metrics" (dict "address" (printf "%s:9464" .Values.address)) -}}
{{- end -}}
{{- if not (hasKey $serve "drainDelay") -}}
{{- $_ := set $serve "drainDelay" 5 -}}
{{- end -}}
{{- $_ := set $config "serve" $serve -}}
{{- if .Values.sandbox.full -}}
{{- $codeMode := default dict $config.codeMode -}}
{{- $sandbox := default dict $codeMode.sandbox -}}
{{- $_ := set $sandbox "minimum" "full" -}}
{{- $_ := set $codeMode "sandbox" $sandbox -}}
{{- $_ := set $config "codeMode" $codeMode -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}
