#!/bin/bash
# wrap.sh: toolsmith with keys added to the configuration file. ADD is YAML text.
args=()
while (($#)); do
  if [[ $1 == --config ]]; then
    new=$(dirname "$2")/with-$(basename "$2")
    cat "$2" >"$new"; printf '\n%s\n' "$ADD" >>"$new"
    args+=(--config "$new"); shift 2
  else args+=("$1"); shift; fi
done
exec /work/main/target/release/toolsmith "${args[@]}"
