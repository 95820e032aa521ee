/* Work-items of a chain, and whether they look at cells or at all pairs. They change the speed and
 * never the chain. */
#include <math.h>

#include "samplers/lj_gcmc/lj.h"

static uint32_t power_of_two_down(double n, uint32_t most) {
    return ergo_power_of_two_down((uint64_t)fmin(n, most));
}

/* Work-items of a chain. If the launch fills the device, few are enough, because other chains
 * hide the latency. A lone chain needs many. CPUs run the work-items of a group one after the
 * other. */
uint32_t lj_group(const struct ergo_device *device, const struct lj_system *s, size_t members,
                  int64_t wish) {
    const struct ergo_device_summary *d = &device->summary;
    const uint32_t most = (uint32_t)(d->largest_group < 1024 ? d->largest_group : 1024);
    const double units = d->compute_units ? d->compute_units : 1;
    if (wish)
        return power_of_two_down((double)wish, most);
    if (device->quirks.loop_limit) /* llvmpipe has eight work-items in a vector */
        return power_of_two_down(8, most);
    if (device->type == CL_DEVICE_TYPE_CPU)
        return 1;
    /* where nothing but steps is made, many are accepted, and each visits all cells within the
     * cutoff twice. H100, 5071 chains, r_c = 3: 32 work-items 6.5e7 moves a second, 128 9.3e7; 1024
     * chains of 1000, r_c = 2.5: 32, 64, 128 0.9e8, 1.5e8, 1.3e8 */
    const double steps = s->ensemble == LJ_MUVT ? 1 : s->cutoff > 2.75 * s->sigma ? 128 : 64;
    const double least = fmax(steps, ergo_device_least_group(device));
    return power_of_two_down(fmax(least, fmin(512, 512 * units / (double)members)), most);
}

/* Local memory (cl/lj_gcmc/whole.cl, volume.cl): of a particle its place, coarsely too, and room in
 * a list; words of moves, pairs of a volume move. CPUs have none. H100, r_c = 2.5, all pairs and
 * cells: 1024 chains of 1000 particles 6.5e8 and 1.5e8 moves a second, 16 1.1e7 and 9.1e6,
 * one 8.7e5 and 5.9e5; 512 of 2000 2.8e8 and 1.0e8. */
uint32_t lj_whole(const struct ergo_device *device, const struct lj_system *s, double particles,
                  int64_t wish) {
    const double room = ((double)device->summary.local_memory - 10496) / 18 - 64;
    const bool can = (s->ensemble == LJ_NVT || s->ensemble == LJ_NPT) && !s->period &&
                     particles <= fmin(room, 32767);
    const bool should = device->type != CL_DEVICE_TYPE_CPU && !device->quirks.loop_limit;
    return can && (wish ? wish == 1 : should) ? ((uint32_t)particles + 31) / 32 * 32 + 32 : 0;
}

/* Work-items of such a chain: few if there are enough chains to fill the device. H100, 32 and 64
 * work-items: 5071 chains of up to 460 particles 8.5e8 and 6.3e8 moves a second; 1024 of 1000 6.5e8
 * and 6.1e8; one, of 128, 256, 512: 8.7e5, 8.7e5, 7.6e5. */
uint32_t lj_whole_group(const struct ergo_device *device, size_t members, uint32_t whole,
                        int64_t wish) {
    const struct ergo_device_summary *d = &device->summary;
    const uint32_t most = (uint32_t)(d->largest_group < 128 ? d->largest_group : 128);
    const double units = d->compute_units ? d->compute_units : 1;
    const double fill = fmin(whole, 256 * units / (double)members);
    return power_of_two_down(wish ? (double)wish : fmax(ergo_device_least_group(device), fill),
                             most);
}

/* As many moves at once as a round can have: most overlap with a core, and few work-items find that
 * fast enough. H200, 32 and 16 moves: 64 chains of 1000 2.0e8 and 1.7e8 moves a second, one of 4096
 * 4.2e6 and 3.3e6, 8448 of them 1.8e9 and 1.7e9. */
uint32_t lj_teams(const struct ergo_device *device, const struct lj_launch *l, int64_t wish) {
    if (wish)
        return (uint32_t)wish < l->group ? (uint32_t)wish : l->group;
    if (device->quirks.loop_limit || device->type == CL_DEVICE_TYPE_CPU)
        return 1;
    return power_of_two_down(l->group, 32);
}
