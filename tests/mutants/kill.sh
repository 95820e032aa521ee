#!/usr/bin/env bash
# Kernels broken on purpose: tests/mutants/kill.sh lists the mutants, kill.sh NAME applies one to a
# copy of cl/ and sees a test notice. Run by tests/run-all, from the repository's root.
#
# Two kinds. `bits` (and `disks`): the oracle's bits differ. `physics`: exact values differ by more than the error
# budget of tests/physics, with the audit out of the way: what statistics would see of a wrong chain
# if there were nothing to compare its bits with.
# A mutant that is not noticed is a hole in the tests, or equivalent and to be replaced.
set -uo pipefail

build=${BUILD:-build}
room=$build/test/mutants
declare -A case_of kind_of file_of sed_of
names=()

# mutant NAME KIND CASE FILE SED: FILE is below cl/spin_lattice, or below cl/helium_vmc where KIND
# begins with helium (helium_bits: the audit's twin; helium_physics: the serial program's averages).
# Below cl/hard_disks for kind disks.
mutant() {
    names+=("$1")
    kind_of[$1]=$2 case_of[$1]=$3 file_of[$1]=$4 sed_of[$1]=$5
}

# A case is a job; both programs take ' for ".
job() {
    local run="'run': {'sweeps': 100, 'correlation_every': 1}" system
    case $1 in
    helium-lanes) system="'n': 43, 'b': 2.6, 'walkers': 2" run="'tuning': {'path': 3}" ;;
    helium-groups) system="'n': 43, 'b': 2.6, 'walkers': 2" run="'tuning': {'path': 1, 'work_group': 8}" ;;
    helium-liquid) system="'n': 64, 'walkers': 16" run="'tuning': {'path': 3}" ;;
    esac
    case $1 in helium-*)
        echo "{'sampler': 'helium-vmc', 'seed': '1', 'system': {$system}, 'run': {'sweeps': 1, 'structure_every': 0}, $run}"
        return
        ;;
    esac
    case $1 in
    # bits: words, rows and blocks that end unevenly, on each path
    scalar) system="'system': {'size': [66, 6], 'temperature': 2.3}, 'replicas': 2, 'tuning': {'path': 3, 'lanes': 2, 'work_group': 2}" ;;
    local) system="'system': {'size': [130, 22], 'temperature': 2.4, 'start': 'up'}, 'replicas': 2, 'tuning': {'path': 1, 'lanes': 2, 'work_group': 8}" ;;
    wide) system="'system': {'size': [194, 18], 'temperature': 2.4}, 'tuning': {'path': 3, 'lanes': 2, 'work_group': 8}" ;;
    tile) system="'system': {'size': [194, 18], 'temperature': 2.4}, 'tuning': {'path': 2, 'lanes': 2, 'tile_sweeps': 1, 'tile_rows': 5, 'work_group': 8}" ;;
    lanes) system="'system': {'size': [130, 22], 'temperature': 2.2}, 'scan': {'/system/temperature': [2.2, 1.5]}, 'tuning': {'path': 3, 'lanes': 1}" ;;
    lanes-local) system="'system': {'size': [128, 128], 'temperature': 3}, 'tuning': {'path': 1, 'lanes': 1}" ;;
    lanes-tile) system="'system': {'size': [256, 24], 'temperature': 2.4}, 'tuning': {'path': 2, 'lanes': 1, 'tile_sweeps': 2, 'tile_rows': 8}" ;;
    large) system="'system': {'size': [512, 256], 'temperature': 2.4}, 'tuning': {'path': 3, 'lanes': 2, 'work_group': 8}" ;;
    # physics: small lattices with known moments, at temperatures where they depend on everything
    critical) system="'system': {'size': [16, 16], 'temperature': 2.269185314213022, 'start': 'up'}, 'replicas': 16, 'tuning': {'path': 1, 'lanes': 1}" ;;
    hot) system="'system': {'size': [16, 16], 'temperature': 3, 'start': 'up'}, 'replicas': 16, 'tuning': {'path': 1, 'lanes': 1}" ;;
    small) system="'system': {'size': [4, 4], 'temperature': 2.5, 'dynamics': 'heat-bath'}, 'replicas': 16, 'tuning': {'path': 1, 'lanes': 1}" ;;
    field) system="'system': {'size': [4, 4], 'temperature': 2.5, 'field': 0.2}, 'replicas': 16, 'tuning': {'path': 1, 'lanes': 1}" ;;
    esac
    case $1 in critical | hot | small | field)
        run="'run': {'equilibration': 1000, 'sweeps': 50000, 'measure_every': 5, 'correlation_every': 0}"
        ;;
    esac
    # hard disks: boxes of some cells, with neighbours across the edge in all of them
    case $1 in
    d-global) system="'system': {'n': 100, 'packing_fraction': 0.7}, 'replicas': 2, 'tuning': {'path': 3, 'work_group': 8}" ;;
    d-local) system="'system': {'n': 100, 'packing_fraction': 0.7}, 'tuning': {'path': 1, 'work_group': 8}" ;;
    d-packed) system="'system': {'n': 64, 'packing_fraction': 0.6, 'coordinates': 'packed'}, 'tuning': {'path': 1}" ;;
    esac
    case $1 in d-*)
        echo "{'sampler': 'hard-disks', 'seed': '1', $system, 'run': {'sweeps': 1, 'contact_bin': 0.002, 'gr_max': 2}}"
        return
        ;;
    esac
    echo "{'sampler': 'spin-lattice', 'seed': '1', $system, $run}"
}

mutant wrong-parity bits scalar core.h 's/odd = (y + colour) & 1;/odd = y \& 1;/'
mutant no-wrap-below bits scalar core.h 's/(y == ISING_LY - 1 ? 0u : y + 1)/(y == ISING_LY - 1 ? y : y + 1)/'
mutant always-accepted bits scalar core.h 's/s\.flip = valid & ~(s\.k\.in\[0\] | s\.k\.in\[1\]);/s.flip = valid;/'
mutant plane-order bits scalar core.h 's/r\.w\[l\], ISING_PLANES - 1 - j/r.w[l], j/'
mutant padding-flips bits scalar core.h 's/? ISING_TAIL_MASK : 0xffffffffu/? 0xffffffffu : 0xffffffffu/'
mutant first-member-only bits scalar ising_global.cl 's/member = members\[index\]/member = members[0]/'
mutant same-start bits scalar ising_global.cl 's/ISING_PURPOSE_START, colour/ISING_PURPOSE_START, 0/'
mutant measure-misses-a-word bits scalar block.h '/ising_count_block/,/^}/ s/l < 4/l < 3/'
mutant pairs-beside bits scalar core.h 's/(r - 1) \/ 2/(r + 1) \/ 2/'
mutant draw-used-again bits large core.h 's/draw = ISING_DRAW_RESOLVE + 1;/draw = ISING_DRAW_RESOLVE;/'
mutant step-in-32-bits bits wide core.h 's/(uint)(sweep >> 32)/0u/'
mutant lost-carry bits wide block.h 's/odd ? s\.z & 1 : s\.y >> 31/odd ? s.z \& 1 : 0/;s/odd ? s\.z & 1 : s\.x >> 31/odd ? s.z \& 1 : 0/'
mutant no-barrier bits local ising_local.cl '/ising_update(/,/barrier/ s/barrier(CLK_LOCAL_MEM_FENCE);//'
mutant short-halo bits tile ising_tile.cl 's/(2 \* ISING_SWEEPS)/(2 * ISING_SWEEPS - 1)/'
mutant lanes-share-a-draw bits lanes-local lanes.h 's/ising_resolve(s, r\.w\[0\] >> 32, member)/ising_resolve(s, r.w[0] \& low, member)/'
mutant lanes-lost-carry bits lanes lanes.h 's/, after << 31);/, after \& 0u);/'
mutant lanes-no-margin bits lanes-local ising_lanes_local.cl 's/own\[ISING_WORDS + i\] = own\[i % ISING_WORDS\]/own[ISING_WORDS + i] = 0/'
mutant lanes-short-halo bits lanes-tile ising_lanes_tile.cl 's/first = 1 + half_sweep/first = 7 + half_sweep/'

# (16 x 16 at Tc: p of classes 0 and 1 is 3.77 and 21.97 of 128; the lower word counts 2^-32 of these units)
mutant T-off-half-a-percent physics critical core.h 's/ISING_LOW0 :/ISING_LOW0 - 284000000u :/; s/ISING_LOW1)/ISING_LOW1 - 827000000u)/'
mutant threshold-off-one-percent physics critical core.h 's/ISING_LOW1)/ISING_LOW1 - 943000000u)/'
mutant colours-share-bits physics hot lanes.h 's/1 + colour/1u/'
mutant blocks-share-bits physics hot lanes.h 's/(ulong8)(0, 4, 1, 5, 2, 6, 3, 7)/(ulong8)(0, 4, 0, 4, 2, 6, 2, 6)/'
mutant sweeps-share-bits physics hot lanes.h 's/ISING_LANE_BLOCKS, sweep,/ISING_LANE_BLOCKS, sweep \& ~1UL,/'
mutant undecided-accepted physics critical lanes.h 's/ISING_MASK(random < threshold)/(ulong8)(~0UL)/'
mutant free-edge physics critical ising_lanes_local.cl 's/own\[ISING_WORDS + i\] = own\[i % ISING_WORDS\]/own[ISING_WORDS + i] = 0/'
mutant metropolis-downhill physics small core.h 's/ISING_BIT_MASK(ISING_ALWAYS(\*member), k)/ISING_BIT_MASK(ISING_ALWAYS(*member) | 0x303u, k)/'
mutant planes-repeat physics critical lanes.h 's/(uint)j, member->key0/(uint)(j % 5), member->key0/'
mutant classes-mixed physics field core.h 's/in\[8\] = down & n3;/in[8] = down \& n4;/'

mutant disks-no-shuffle disks d-local cell.h 's/\*own = disks_shuffle(\*own, n, disks_spare(r0, r1));//'
mutant disks-sets-in-order disks d-local core.h 's/if (shuffle) {/if (0) {/'
mutant disks-leave-their-cell disks d-global cell.h 's/(uint)(px < DISKS_WF + member->leave)/1u/'
mutant disks-two-slots-seen disks d-global cell.h 's/if (more) {/if (0) {/'
mutant disks-wrong-image disks d-global cell.h 's/by = (float8)(v, v/by = (float8)(w, w/'
mutant disks-no-wrap disks d-global cell.h 's/disks_col(h, cx ? cx - 1u : m - 1u)/disks_col(h, cx ? cx - 1u : 0u)/'
mutant disks-shift-loses disks d-local cell.h 's/nx = cx + 1u < m ? cx + 1u : 0u;/nx = cx;/'
mutant disks-grid-forgotten disks d-local disks_local.cl 's/origin\[0\] = axis ? origin\[0\] : moved;//'
mutant disks-step-in-32-bits disks d-global cell.h 's/s1 = (uint)(step >> 32)/s1 = 0u/'
mutant disks-share-a-draw disks d-global cell.h 's/i, r\.z, r\.w,/i, r.x, r.y,/'
mutant disks-one-quadrant-less disks d-global core.h 's/((b & 2u) << 30)/0u/'
mutant disks-first-member-only disks d-global disks_global.cl 's/mine = &members\[member\]/mine = \&members[0]/'
mutant disks-no-barrier disks d-local disks_local.cl '/disks_update(/,/DISKS_BARRIER/ s/DISKS_BARRIER;//'
mutant disks-empty-slot-lost disks d-packed cell.h 's/c\.x == (float4)(DISKS_FAR)/c.x < (float4)(0.0f)/'
mutant disks-pairs-twice disks d-global disks_measure.cl 's/same ? i + 1u : 0u/0u/'
mutant disks-psi4 disks d-global disks_measure.cl 's/a \* a \* a - 3\.0f \* a \* b \* b/a * a - b * b/'
mutant helium-factor-two helium_bits helium-lanes core.h 's/change >= (long)bound/change >= 2 * (long)bound/'
mutant helium-self helium_bits helium-lanes walk_lanes.cl 's/if (v == i \/ 8)/if (v == HELIUM_N)/'
mutant helium-tail helium_bits helium-lanes walk_lanes.cl 's/if (HELIUM_N % 8 \&\& v + 1/if (0 \&\& v + 1/'
mutant helium-lost-sum helium_bits helium-lanes walk_lanes.cl 's/after\[v\] - before\[v\]/after[v]/'
mutant helium-no-rebuild helium_bits helium-lanes walk_lanes.cl 's/if (rebuild)/if (rebuild > 1)/'
mutant helium-image helium_bits helium-groups walk.cl 's/(int)((uint)x - (uint)place\[j\])/(int)((uint)x - (uint)place[j] + 1u)/'
mutant helium-self-groups helium_bits helium-groups walk.cl 's/return j == i ? 0 : u;/return u;/'
mutant helium-energy-self helium_bits helium-groups energy.cl 's/if (j == i || /if (/'
mutant helium-walkers-share helium_bits helium-groups walk.cl 's/walker \* HELIUM_N + first/first/'
mutant helium-factor-two-seen helium_physics helium-liquid core.h 's/change >= (long)bound/change >= 2 * (long)bound/'
mutant helium-self-seen helium_physics helium-liquid walk_lanes.cl 's/if (v == i \/ 8)/if (v == HELIUM_N)/'
mutant helium-image-seen helium_physics helium-liquid walk_lanes.cl 's/convert_float8(ix)/convert_float8(ix \& 0x7fffffff)/'

# check MUTANT LOG: the test's program on the mutant's case; kernels as $ERGOCL_CL_DIR says.
check() {
    "$build/tests/mutants/test_${kind_of[$1]}" "$(job "${case_of[$1]}")" >"$2" 2>&1
}

if [ $# -eq 0 ]; then
    printf '%s\n' "${names[@]}"
    exit 0
fi
name=$1
[ -n "${kind_of[$name]:-}" ] || {
    echo "no mutant \"$name\""
    exit 2
}
mkdir -p "$room"
log=$room/$name.log copy=$room/$name.cl

# The kernel as it is passes; once for all mutants of a case.
whole=$room/${case_of[$name]}.passed
if [ ! -e "$whole" ]; then
    check "$name" "$log" || {
        tail -n 30 "$log"
        echo "the unbroken kernel fails"
        exit 1
    }
    touch "$whole"
fi

folder=spin_lattice
case ${kind_of[$name]} in
helium*) folder=helium_vmc ;;
disks) folder=hard_disks ;;
esac
rm -rf "$copy"
cp -r cl "$copy"
sed "${sed_of[$name]}" "cl/$folder/${file_of[$name]}" >"$copy/$folder/${file_of[$name]}"
! cmp -s "cl/$folder/${file_of[$name]}" "$copy/$folder/${file_of[$name]}" || {
    echo "the mutation of ${file_of[$name]} changes nothing: its text has gone"
    exit 1
}
code=0
ERGOCL_CL_DIR=$copy check "$name" "$log" || code=$?
tail -n 12 "$log"
# Not a compiler's message nor a crash: a result that is not the expected one.
if [ "$code" -ne 1 ] || ! grep -q -e oracle -e 'not the exact values' "$log"; then
    echo "not killed by ${kind_of[$name]} (exit code $code)"
    exit 1
fi
rm -rf "$copy"
