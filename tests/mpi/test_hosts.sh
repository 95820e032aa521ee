#!/usr/bin/env bash
# A lattice cut over two hosts with two ranks each: network namespaces, joined by a bridge, with host
# names of their own; TCP between them. Devices are dealt out per host; a lost network ends all.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"

skip() {
    echo "not possible here: $*"
    exit 77
}
command -v ip >/dev/null || skip "no ip (package iproute2)"
command -v unshare >/dev/null || skip "no unshare"
[ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
tag=ergo$$
one=${tag}a two=${tag}b bridge=${tag}r
# shellcheck disable=SC2317 # called at the end
tidy() {
    ip netns del "$one" 2>/dev/null
    ip netns del "$two" 2>/dev/null
    ip link del "v2$tag" 2>/dev/null
    ip link del "v3$tag" 2>/dev/null
    ip link del "$bridge" 2>/dev/null
}
trap tidy EXIT
ip netns add "$one" 2>/dev/null || skip "network namespaces are not permitted"
ip netns exec "$one" unshare --uts true 2>/dev/null || skip "no namespaces for host names"
ip netns add "$two" 2>/dev/null || skip "no second network namespace"
ip link add "$bridge" type bridge 2>/dev/null || skip "no bridges between network namespaces"
ip link set "$bridge" up
ip addr add 10.231.77.1/24 dev "$bridge" || skip "no addresses for a bridge"
n=2
for host in "$one" "$two"; do
    ip link add "v$n$tag" type veth peer name eth0 netns "$host" 2>/dev/null || skip "no veth pairs"
    ip link set "v$n$tag" master "$bridge" up
    ip -n "$host" addr add 10.231.77.$n/24 dev eth0
    ip -n "$host" link set eth0 up
    ip -n "$host" link set lo up
    n=$((n + 1))
done
cat >agent <<'AGENT'
#!/bin/bash
host=$1
shift
exec ip netns exec "$host" unshare --uts bash -c "hostname $host; $*"
AGENT
chmod +x agent
unset OMPI_MCA_plm OMPI_MCA_btl
export POCL_MAX_PTHREAD_COUNT=1
# shellcheck disable=SC2317 # called by expect
hosts() {
    seen timeout -s KILL 400 mpirun --mca plm_rsh_agent "$PWD/agent" --mca plm_rsh_no_tree_spawn 1 \
        --mca btl tcp,self --mca btl_tcp_if_include 10.231.77.0/24 \
        --mca oob_tcp_if_include 10.231.77.0/24 -x POCL_MAX_PTHREAD_COUNT -x POCL_CACHE_DIR \
        -x ERGOCL_CACHE_DIR -x RUSTICL_ENABLE ${POCL_EXTRA_BUILD_FLAGS:+-x POCL_EXTRA_BUILD_FLAGS} -H "$one:2,$two:2" "$@"
}
cat >here <<'HERE'
#!/bin/bash
echo "$OMPI_COMM_WORLD_NODE_RANK of $(hostname)"
HERE
chmod +x here
hosts -np 4 "$PWD/here" >seen 2>&1 || skip "mpirun cannot start ranks there: $(tail -n 1 seen)"
[ "$(sort -u seen | wc -l)" -eq 4 ] || { cat seen; fail "not two hosts with two ranks each"; }

cat >job.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "3",
  "system": { "q": 3, "size": [200, 120], "temperature": 0.9, "shares": "equal" },
  "run": { "sweeps": 30, "measure_every": 3 }, "output": { "snapshots": 0 } }
JOB
expect 0 "$ERGOCL" run job.json -o alone --device "$pocl" --quiet
# the first rank of each host gets PoCL, the second the other
expect 0 hosts -np 4 "$ERGOCL" run job.json -o hosts --device "$pocl,$other" --quiet
same_points alone hosts
$python - "$other_name" <<'PYTHON' || fail "devices were not dealt out per host"
import json, sys
names = [d["name"] for d in json.load(open("hosts/result.json"))["device"]]
raise SystemExit([sys.argv[1] in n for n in names] != [False, True, False, True])
PYTHON
expect 0 hosts -np 4 "$ERGOCL" run job.json -o rounds --device "$pocl" --quiet \
    --set /system/merge=rounds
same_points alone rounds

# The network between them is lost: mpirun, told to look, notices, and on both hosts all end; what was
# saved goes on in one process.
long=(--set /run/sweeps=8000 --set /run/measure_every=8 --set /checkpoint/every_seconds=0.2 --quiet)
expect 0 "$ERGOCL" run job.json -o whole --device "$pocl" "${long[@]}"
OMPI_MCA_oob_tcp_keepalive_time=1 OMPI_MCA_oob_tcp_keepalive_intvl=1 OMPI_MCA_oob_tcp_keepalive_probes=2 \
    hosts -np 4 "$ERGOCL" run job.json -o cut --device "$pocl" "${long[@]}" >out 2>err &
launcher=$!
wait_for cut/checkpoint
ip link set "v3$tag" down
start=$SECONDS
code=0
wait $launcher || code=$?
[ $code -ne 0 ] || fail "a lost network went unnoticed"
[ $((SECONDS - start)) -le 60 ] || fail "$((SECONDS - start)) s until the first host's ended"
for ((i = 0; i < 200; i++)); do
    left=$(ip netns pids "$one" && ip netns pids "$two")
    [ -n "$left" ] || break
    sleep 0.1
done
[ -z "$left" ] || fail "they work on, each for itself: $left"
expect 0 "$ERGOCL" resume cut --device "$pocl" --quiet
same_points whole cut
exit 0
