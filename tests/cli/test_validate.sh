#!/usr/bin/env bash
# Jobs are checked whole: every error with its pointer, nothing written, no device touched.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
export OCL_ICD_VENDORS=/nonexistent # a device could not even be found

for job in "$ERGOCL_ROOT"/data/jobs/*.json; do
    expect 0 "$ERGOCL" validate "$job"
    says out "$(basename "$job" .json)" "valid" "point"
done
expect 0 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/quickstart.json"
says out "31 points"
expect 0 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/quickstart.json" --set '/scan={}' --set /replicas=3
says out "3 points"

small_job >job.json
expect 0 "$ERGOCL" validate job.json
"$ERGOCL" validate - <job.json >out || fail "a job on standard input"
says out stdin "2 points"

# bad SED-SCRIPT TEXT...: the job, edited, is refused with these texts.
bad() {
    local edit=$1
    shift
    small_job | sed "$edit" >bad.json
    ! cmp -s bad.json job.json || fail "the edit \"$edit\" changed nothing"
    expect 2 "$ERGOCL" validate bad.json
    says err "$@"
}
# A file that a job names and that is not there: the key is said.
echo '{"sampler": "helium-vmc", "system": {"n": 64, "potential": "not/here.dat"}, "run": {"sweeps": 4}}' >file.json
expect 4 "$ERGOCL" validate file.json
says err "/system/potential: cannot read not/here.dat"
# missing KEY SAMPLER SYSTEM [MORE]: the key alone, whatever its file is called.
missing() {
    echo "{\"sampler\": \"$2\", \"system\": {$3}, ${4:-} \"run\": {\"sweeps\": 4}}" >file.json
    expect 4 "$ERGOCL" validate file.json
    says err "$1: cannot read all: No such file"
}
missing /system/field hard-spheres '"n": 10, "box": [9, 9, 9], "axis": "z", "field": "all"'
missing /system/field_file spin-lattice '"model": "ising", "size": [4, 4], "temperature": 1, "field_file": "all"'
missing /system/frozen/file lj-fluid '"particles": 10, "box": [9, 9, 9], "temperature": 1, "frozen": {"file": "all", "epsilon": 1, "sigma": 1}'
missing /system/start lj-gcmc '"box": [9, 9, 9], "temperature": 1.5, "activity": 0.1, "start": "all"'
# so does a run whose states are asked for
echo '{"sampler": "lj-gcmc", "system": {"box": [9, 9, 9], "temperature": 1.5, "activity": 0.1}, "start": {"run": "all"}, "run": {"sweeps": 4}}' >file.json
expect 4 "$ERGOCL" validate file.json
says err "/start/run: all has no file checkpoint"

# Hard particles: histograms that are wrong hide nothing else.
for system in 'disks hexatic_every [8,8]' 'spheres order_every [8,8,8]'; do
    read -r many key box <<<"$system"
    echo "{\"sampler\": \"hard-$many\", \"system\": {\"n\": 30, \"box\": $box, \"walls\": \"y\"}, \"run\": {\"sweeps\": 4, \"$key\": 2, \"contact_range\": 0.01, \"contact_bin\": 0.02}}" >file.json
    expect 2 "$ERGOCL" validate file.json
    says err "/run/$key: the" "/run/contact_bin: wider than contact_range"
done
# Starts: what a run would refuse is refused here, with the place in the file and how close is too close.
# seconds N COMMAND...: of a processor, or it is ended.
seconds() { (ulimit -t "$1" && shift && exec "$@"); }
# processor CODE COMMAND...: $spent, in milliseconds of a processor, the fewer of two runs.
processor() {
    local code=$1 run TIMEFORMAT="%U %S"
    shift
    for run in 1 2; do
        { time expect "$code" "$@"; } 2>"time.$run"
    done
    spent=$(awk '{ s = 1000 * ($1 + $2) } NR == 1 || s < least { least = s } END { printf "%d", least + 1 }' time.1 time.2)
}
# start CODE SAMPLER SYSTEM TEXT...: a job with start.xyz.
start() {
    local code=$1 sampler=$2 system=$3
    shift 3
    echo "{\"sampler\": \"$sampler\", \"system\": {$system, \"start\": \"./start.xyz\"}, \"run\": {\"sweeps\": 4}}" >start.json
    expect "$code" seconds 20 "$ERGOCL" validate start.json
    [ $# = 0 ] || says err "$@"
}
disks='"n": 3, "box": 4'
lj='"box": [9, 9, 9], "temperature": 1.5, "activity": 0.1'
helium='"n": 3, "density": 0.001, "b": 0, "walkers": 2'
for sampler in hard-disks lj-gcmc helium-vmc; do
    case $sampler in
        hard-disks) system=$disks ;;
        lj-gcmc) system=$lj ;;
        *) system=$helium ;;
    esac
    rm -f start.xyz
    start 4 $sampler "$system" "/system/start: cannot read ./start.xyz: No such file"
    mkfifo start.xyz
    start 4 $sampler "$system" "./start.xyz: it is not a regular file"
    rm start.xyz
    truncate -s 20G start.xyz
    start 4 $sampler "$system" "./start.xyz: it holds 21474836480 bytes or more, at most"
    rm start.xyz
    printf '3\n\nX 0.5 0.5 0\nX 2.5 2.5 0\nX 1e300 1 0\n' >start.xyz
    start 2 $sampler "$system" "/system/start: ./start.xyz" "line 5: 1e+300 is a million sides of the box"
    printf '3\n\nX 0.5 0.5 0\nX 2.5 inf 0\nX 1 1 0\n' >start.xyz
    start 4 $sampler "$system" "/system/start: ./start.xyz" "line 4: expected three coordinates"
    printf '3\n\nX 0.5 0.5 0\nX 2.5 2.5 0\n' >start.xyz
    start 4 $sampler "$system" "ends after 2 of its particles"
    printf '3\n\nX 0.5 0.5 0\nX 2.5 2.5 0\nX 0.5 0.5 0\n' >start.xyz
    case $sampler in
        hard-disks) start 2 $sampler "$system" "disks 1 and 3 overlap: their distance is 0 sigma, 1 less than the 1" ;;
        lj-gcmc) start 2 $sampler "$system" "particles 1 and 3 of ./start.xyz are 0 apart; allowed are 0.729" ;;
        *) start 2 $sampler "$system" "atoms 1 and 3 are in the same place; a distance of 3.4e-09 A or more" ;;
    esac
    printf '3\n\nX 0.5 0.5 0\nX 2.5 2.5 0\nX 0.5 1.8 0\n' >start.xyz
    start 0 $sampler "$system"
done
printf '4\n\nX 0.5 0.5 0\nX 2.5 2.5 0\nX 0.5 1.8 0\nX 2 1 0\n' >start.xyz
start 2 hard-disks "$disks" "/system/n: 3, but ./start.xyz has 4 disks"
start 2 helium-vmc "$helium" "/system/n: 3, but ./start.xyz (frame 1) has 4 atoms"
printf '3\n\nX 0.5 0.5 0\nX 2.5 2.5 0\nX 0.5 1.4999 0\n' >start.xyz
start 2 hard-disks "$disks" "disks 1 and 3 overlap: their distance is 0.9999" "sigma, 9.99e-05 less"
# nearly a square of the number of particles would take minutes
awk 'BEGIN { print 216000; print ""; for (i = 0; i < 60; i++) for (j = 0; j < 60; j++) for (k = 0; k < 60; k++)
    print "X", 5 + i * 1.1, 5 + j * 1.1, 5 + k * 1.1 }' >start.xyz
start 0 lj-gcmc '"box": [9e5, 9e5, 9e5], "temperature": 1.5, "activity": 1e-9'
echo '{"sampler": "lj-gcmc", "system": {"box": [4.2, 4.2, 4.2], "temperature": 1.5, "activity": 0.1, "cutoff": 2,
  "particles": 312890}, "run": {"sweeps": 4}}' >lattice.json
expect 2 seconds 20 "$ERGOCL" validate lattice.json
says err "/system/particles: particles 1 and 2 of a lattice in this box are 0.0617" "Start with fewer"

# Fields and couplings, alike.
for key in field_file disorder_file; do
    job="{\"sampler\": \"spin-lattice\", \"system\": {\"model\": \"ising\", \"size\": [2, 2], \"temperature\": 2, \"$key\": \"./table\"},"
    echo "$job \"run\": {\"sweeps\": 4}}" >table.json
    rm -f table
    expect 4 "$ERGOCL" validate table.json
    says err "/system/$key: cannot read ./table: No such file"
    printf '1 2 3 nan\n' >table
    expect 2 "$ERGOCL" validate table.json
    says err "/system/$key: ./table is not a file of" "line 1"
    printf 'root:Xyzzy:0 1 Xyzzy\n' >table # no word of it is told (each key: unit/test_words.c)
    for command in validate run; do
        expect 2 "$ERGOCL" "$command" table.json
        says err "/system/$key: ./table is not a file of" "line 1"
        ! grep -q "Xyzzy" out err || fail "a word of ./table is told"
    done
    printf '1 1\0 1 1\n' >table
    expect 2 "$ERGOCL" validate table.json
    says err "/system/$key: ./table is not a file of" "it is not text"
done

bad 's/"temperature": 2.3/"temperture": 2.3/' /system/temperture temperature
bad 's/"sweeps": 2000/"sweeps": -5/' /run/sweeps -5
bad 's/"sweeps": 2000/"sweeps": 1e999/' /run/sweeps
bad 's/"sweeps": 2000/"sweeps": 2000, "sweeps": 3/' /run/sweeps
bad 's/"sweeps": 2000/"sweeps": "many"/' /run/sweeps
bad 's/"sweeps": 2000/"sweeps": 10.5/' /run/sweeps
bad 's/"seed": "11"/"seed": 9007199254740993/' /seed
bad 's/"seed": "11"/"seed": "-1"/' /seed
bad 's/"seed": "11"/"seed": "18446744073709551616"/' /seed
bad 's/\[64, 64\]/[64, 63]/' /system/size 63
bad 's/\[64, 64\]/[]/' /system/size
bad 's/\[64, 64\]/[64, 64, 64, 64]/' /system/size
bad 's/"ising"/"isng"/' /system/model '"ising"'
bad 's/spin-lattice/spin-latice/' /sampler spin-lattice
bad 's/"sampler": "spin-lattice",//' /sampler
bad 's/"Sampler"/x/; s/"sampler"/"Sampler"/' Sampler
bad 's/2.2, 2.3\]/2.2, -1]/' /scan/~1system~1temperature/1 -1
bad 's|"/system/temperature"|"/system/temprature"|' temprature /system/temperature
bad '2,99s/^}/} trailing/' "bad.json:7:" "nothing may follow"
bad '2,99s/^}//' "bad.json:"
bad '1s/{//' "bad.json:"
# all of them at once
bad 's/"temperature": 2.3/"temperture": 2.3/; s/"sweeps": 2000/"sweeps": -5/; s/"seed": "11"/"seed": ""/' \
    /system/temperture /run/sweeps /seed

expect 2 "$ERGOCL" validate job.json --set /run/swepes=3
says err swepes sweeps
expect 2 "$ERGOCL" validate job.json --set nonsense
says err nonsense
expect 0 "$ERGOCL" validate job.json -s /run/sweeps=30 --set=/seed=99
expect 4 "$ERGOCL" validate missing.json
says err missing.json "No such file"
expect 4 "$ERGOCL" validate .
: >empty.json
expect 2 "$ERGOCL" validate empty.json
head -c 300 /dev/urandom >noise.json
expect 2 "$ERGOCL" validate noise.json
$python -c 'print("[" * 200000)' >deep.json
expect 2 "$ERGOCL" validate deep.json

# a bad job starts nothing
small_job | sed 's/2000/-5/' >bad.json
expect 2 "$ERGOCL" run bad.json -o folder
[ ! -e folder ] || fail "a refused job left a folder"

# what swendsen-wang had and has no more: what to write instead
cat >clusters.json <<'JOB'
{ "sampler": "swendsen-wang", "system": { "size": [32, 32], "temperature": 1.2 }, "run": { "sweeps": 10 } }
JOB
expect 2 "$ERGOCL" validate clusters.json --set /system/labelling=label-equivalence
says err /system/labelling union-find
expect 2 "$ERGOCL" validate clusters.json --set /system/merge=neighbour
says err /system/merge rounds
expect 2 "$ERGOCL" validate clusters.json --set /tuning/path=3
says err /tuning/path "from 0 to 2"
large=(--set "/system/size=[65536,65536]" --set /distribute=points)
expect 2 "$ERGOCL" validate clusters.json "${large[@]}"
says err /system/size '"distribute": "lattice"' '"observables": "energy,order_parameter"'
expect 0 "$ERGOCL" validate clusters.json "${large[@]}" --set /run/observables=energy
# correlations where nothing measures them; a temperature that is not needed, and one that is
expect 2 "$ERGOCL" validate clusters.json --set /run/correlations=true --set /run/observables=correlation_ratio --set "/system/size=[32,3]"
says err /run/correlations "correlation_half"
expect 2 "$ERGOCL" validate clusters.json --set /run/correlations=true --set /run/observables=correlation_ratio --set "/system/size=[8,8,8]"
says err /run/correlations "correlation_length"
expect 2 "$ERGOCL" validate clusters.json --set /run/correlations=true --set /run/observables=correlation_length --set /system/model=xy
says err /run/correlations "correlation_length_improved"
sed 's/, "temperature": 1.2//' clusters.json >cold.json
expect 2 "$ERGOCL" validate cold.json
says err /system/temperature missing
expect 0 "$ERGOCL" validate cold.json --set /run/method=probability-changing
# ends of a range: the key that is given, the range that help says, and numbers that are some
expect 2 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/east.json" --set /scan=null --set /system/up_density=1e-300
says err "/system/up_density: found 1e-300, which is out of range" "from 1e-12"
expect 0 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/east.json" --set /scan=null --set /system/up_density=1e-12
expect 2 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/east.json" --set /scan=null --set /system/up_density=1
says err "/system/up_density: 1 is not below 1"
expect 0 "$ERGOCL" help east
says out "Density c of up spins, below 1"
expect 2 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/lj-gibbs.json" --set /system/box=1e-300
says_not err "nan"
# Replicas do not cost what points do (a mixture: curves of species; a graph: chains of a ladder): beside as many of
# the smallest model, whose names of streams are the cost. Measured 2.1 to 2.6, and 3.4 to 4.7 where each is a point.
processor 3 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/quickstart.json" --set /replicas=16129
says err "of 499999 points"
spins=$spent
processor 3 "$ERGOCL" validate "$ERGOCL_ROOT/data/jobs/lj-mixture.json" --set /replicas=100000
says err "of 500000 points"
[ $((10 * spent)) -le $((33 * spins)) ] || fail "a mixture takes $spent ms of a processor, spins $spins"
processor 0 "$ERGOCL" validate "$ERGOCL_ROOT/tests/contract/jobs/spin-lattice+graph.json" --set /replicas=1000000 --set /scan=null
[ $((10 * spent)) -le $((66 * spins)) ] || fail "a graph takes $spent ms of a processor, spins $spins"
