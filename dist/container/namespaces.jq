# Adds to a seccomp profile, such as Docker's or podman's default profile, the system calls that Toolsmith needs to put
# programs and compilers into namespaces of their own. docs/container.md describes when to do that.
#
#   jq -f dist/container/namespaces.jq default.json >toolsmith.json
["clone", "clone3", "fsconfig", "fsmount", "fsopen", "mount", "mount_setattr", "move_mount", "open_tree", "pivot_root",
 "sethostname", "umount2", "unshare"] as $needed
# A call may have only one rule without conditions, so refusals of these calls are removed first.
| .syscalls |= map(.names -= $needed | select(.names | length > 0))
| .syscalls += [{ names: $needed, action: "SCMP_ACT_ALLOW" }]
