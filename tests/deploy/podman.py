"""Prints a manifest for `podman kube play` with one Deployment for each replica.

Usage: podman.py MANIFEST IMAGE SECRET REPLICA...

Podman ignores Services, policies and autoscalers. It refuses nothing of the Deployment, but three things would not work
with two replicas on one machine:

- `replicas`: podman 5 starts one replica of a Deployment. So each replica gets its own, toolsmith-fleet-REPLICA.
- `ports`: podman 4 publishes each port of a container at the same port of the machine, which only one replica can have.
- names of volumes: podman 4 gives an emptyDir of the same name to all Pods of the machine.

IMAGE and SECRET replace the image and the Secret of the manifest, whose names may mean something else on this machine.
"""

import copy
import sys

import yaml


def replica(deployment, image, secret, name):
    """The Deployment of one replica."""
    own = copy.deepcopy(deployment)
    own["metadata"]["name"] = f"toolsmith-fleet-{name}"
    own["spec"]["replicas"] = 1
    pod = own["spec"]["template"]["spec"]
    for container in pod["containers"]:
        container.pop("ports")
        container["image"] = image
        for variable in container["env"]:
            variable["valueFrom"]["secretKeyRef"]["name"] = secret
        for mount in container["volumeMounts"]:
            mount["name"] = f"toolsmith-fleet-{name}-{mount['name']}"
    for volume in pod["volumes"]:
        volume["name"] = f"toolsmith-fleet-{name}-{volume['name']}"
        if "configMap" in volume:
            volume["configMap"]["name"] = volume["name"]
    return own


def configuration(found, name):
    """The ConfigMap of one replica; podman makes a volume of the same name from it."""
    own = copy.deepcopy(found)
    own["metadata"]["name"] = f"toolsmith-fleet-{name}-config"
    return own


def main(manifest, image, secret, *names):
    """Prints the manifest."""
    with open(manifest, encoding="utf-8") as text:
        found = {item["kind"]: item for item in yaml.safe_load_all(text) if item}
    printed = []
    for name in names:
        printed += [configuration(found["ConfigMap"], name), replica(found["Deployment"], image, secret, name)]
    print(yaml.safe_dump_all(printed, sort_keys=False))


if __name__ == "__main__":
    main(*sys.argv[1:])
