"""Checks manifests against the schemas of Kubernetes, and what no schema can check.

Usage: validate.py VERSION... -- FILE...

Every object of the files must match the strict schema of each version of Kubernetes. Objects of other API groups are
skipped: custom.mjs checks them. Exits with 1 if anything is wrong.
"""

import sys

import kubernetes_validate
import yaml

# API groups whose schemas are not part of Kubernetes.
CUSTOM = ("monitoring.coreos.com/", "gateway.networking.k8s.io/")


def objects(file):
    """The objects of a file, with duplicate keys refused."""
    with open(file, encoding="utf-8") as text:
        return [found for found in yaml.load_all(text, Loader=UniqueKeys) if found]


class UniqueKeys(yaml.SafeLoader):
    """A loader that refuses a mapping with the same key twice, of which the API server would use one."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.YAMLError(f"{node.start_mark}: {sorted(twice)} appears twice")
        return super().construct_mapping(node, deep)


def problems(file, versions):
    """Everything that is wrong with a file."""
    found = objects(file)
    for item in found:
        name = f"{file}: {item.get('kind')} {item.get('metadata', {}).get('name')}"
        for version in versions:
            if item["apiVersion"].startswith(CUSTOM):
                continue
            try:
                kubernetes_validate.validate(item, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                path = ".".join(str(part) for part in error.path)
                yield f"{name}: Kubernetes {version}: {path}: {error.message}"
    yield from references(file, found)
    for item in found:
        if item.get("kind") == "Deployment":
            yield from hardening(f"{file}: Deployment {item['metadata']['name']}", item)


def references(file, found):
    """Objects that are referred to by name or by labels must be in the same file."""
    by_kind = {}
    for item in found:
        by_kind.setdefault(item["kind"], {})[item["metadata"]["name"]] = item
    pods = [item["spec"]["template"] for item in by_kind.get("Deployment", {}).values()]
    for template in pods:
        spec = template["spec"]
        if spec["serviceAccountName"] not in by_kind.get("ServiceAccount", {}):
            yield f"{file}: there is no ServiceAccount {spec['serviceAccountName']}"
        for volume in spec["volumes"]:
            name = volume.get("configMap", {}).get("name")
            if name and name not in by_kind.get("ConfigMap", {}):
                yield f"{file}: there is no ConfigMap {name}"
    for item in found:
        spec = item.get("spec", {})
        selector = {
            "Service": lambda spec: spec["selector"],
            "NetworkPolicy": lambda spec: spec["podSelector"]["matchLabels"],
            "PodDisruptionBudget": lambda spec: spec["selector"]["matchLabels"],
            "Deployment": lambda spec: spec["selector"]["matchLabels"],
        }.get(item["kind"])
        if selector and not any(selects(selector(spec), pod["metadata"]["labels"]) for pod in pods):
            yield f"{file}: {item['kind']} {item['metadata']['name']} selects no Pod"
        if item["kind"] == "HorizontalPodAutoscaler":
            target = spec["scaleTargetRef"]
            scaled = by_kind.get(target["kind"], {}).get(target["name"])
            if scaled is None:
                yield f"{file}: the HorizontalPodAutoscaler scales nothing"
            elif "replicas" in scaled["spec"]:
                yield f"{file}: both the HorizontalPodAutoscaler and the Deployment set the number of replicas"
        if item["kind"] == "ServiceMonitor":
            services = by_kind.get("Service", {}).values()
            ports = [
                port.get("name")
                for service in services
                if selects(spec["selector"]["matchLabels"], service["metadata"]["labels"])
                for port in service["spec"]["ports"]
            ]
            if [endpoint["port"] for endpoint in spec["endpoints"]] != [port for port in ports if port == "metrics"]:
                yield f"{file}: the ServiceMonitor must select exactly one Service with a port `metrics`: {ports}"


def selects(selector, labels):
    """Whether a selector matches labels. An empty selector would match everything."""
    return bool(selector) and selector.items() <= labels.items()


def hardening(name, deployment):
    """What the documentation promises about Pods."""
    spec = deployment["spec"]["template"]["spec"]
    pod = spec["securityContext"]
    expected = [
        ("automountServiceAccountToken", spec.get("automountServiceAccountToken"), False),
        ("runAsNonRoot", pod.get("runAsNonRoot"), True),
        ("containers", len(spec["containers"]), 1),
    ]
    container = spec["containers"][0]
    own = container["securityContext"]
    full = own.get("procMount") == "Unmasked"
    expected += [
        ("allowPrivilegeEscalation", own.get("allowPrivilegeEscalation"), False),
        ("readOnlyRootFilesystem", own.get("readOnlyRootFilesystem"), True),
        ("privileged", own.get("privileged"), False),
        ("capabilities", own.get("capabilities"), {"drop": ["ALL"]}),
        ("seccompProfile", pod["seccompProfile"]["type"], "Localhost" if full else "RuntimeDefault"),
        ("hostUsers with an unmasked /proc", full and spec.get("hostUsers", True), False),
        ("probes", sorted(key for key in container if key.endswith("Probe")),
         ["livenessProbe", "readinessProbe", "startupProbe"]),
        ("requests", sorted(container["resources"]["requests"]), ["cpu", "ephemeral-storage", "memory"]),
        ("limits.cpu", container["resources"]["limits"].get("cpu"), None),
    ]
    for key, found, wanted in expected:
        if found != wanted:
            yield f"{name}: {key} is {found!r} instead of {wanted!r}"
    for variable in container.get("env", []):
        if "value" in variable and any(word in variable["name"] for word in ("TOKEN", "SECRET", "PASSWORD", "KEY")):
            yield f"{name}: {variable['name']} has its value in the manifest instead of a Secret"


def main(arguments):
    """Checks the files; returns the exit code."""
    versions, files = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    failed = False
    for file in files:
        count = len(objects(file))
        wrong = list(problems(file, versions))
        failed |= bool(wrong) or count == 0
        for problem in wrong:
            print(problem, file=sys.stderr)
        print(f"{file}: {count} objects, {len(wrong)} problems")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
