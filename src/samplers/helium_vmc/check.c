/* Checks of a helium-vmc job beyond the table of its keys. */

#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

enum ergo_status helium_check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ERGO_OK;
    const int64_t walkers = of_quantum(point)->walkers;
    const int64_t start = of_vmc(point)->start_steps;
    const int64_t equilibration = point->parameters->equilibration;
    if (of_quantum(point)->structure_every == 0 && !ergo_says(of_vmc(point)->optimise, "none"))
        status = ergo_job_error(ctx, "/run/optimise",
                                "takes every /run/structure_every-th measurement, and that is 0: "
                                "none");
    if (ergo_says(of_vmc(point)->optimise, "b") &&
        (!helium_is_schiff_verlet(point) || helium_has_triplet(point) || helium_has_sites(point)))
        status = ergo_job_error(ctx, "/run/optimise",
                                "b: only of wave_function schiff-verlet, whose parameter it is, "
                                "without a triplet or one-body factor; all changes b beside "
                                "them, but not /system/localisation");
    const struct helium_schedule schedule = helium_schedule_of(point);
    if (schedule.all && helium_schedule_length(&schedule) > (uint64_t)equilibration)
        status =
            ergo_job_error(ctx, "/run/equilibration",
                           "%lld macroupdates; %lld updates of the wave function (/run/optimise "
                           "all) and what is around them take %llu",
                           (long long)equilibration, (long long)of_vmc(point)->optimise_updates,
                           (unsigned long long)helium_schedule_length(&schedule));
    if (schedule.all && helium_is_schiff_verlet(point) && of_quantum(point)->b == 0)
        status = ergo_job_error(ctx, "/run/optimise",
                                "all: an ideal gas (/system/b 0) has no wave function to improve; "
                                "use a b above 0");
    if (schedule.all && !helium_is_schiff_verlet(point) && !helium_has_triplet(point) &&
        of_vmc(point)->optimise_knots == 0)
        status = ergo_job_error(ctx, "/run/optimise",
                                "all: there are no parameters: /run/optimise_knots is 0, and there "
                                "is neither a b nor a triplet factor");
    if (schedule.all && helium_has_triplet(point)) {
        struct helium_model box;
        helium_model_box(point, &box);
        if (box.triplet.centre > box.triplet.range)
            status = ergo_job_error(ctx, "/system/triplet/centre",
                                    "%g A is beyond /system/triplet/range, %.6g A, where the "
                                    "optimisation (/run/optimise all) would not leave it",
                                    box.triplet.centre, box.triplet.range);
    }
    if (schedule.all && walkers < 8)
        status = ergo_job_error(ctx, "/run/optimise",
                                "all: %lld walkers are too few to learn from; use dozens, better "
                                "hundreds (/system/walkers)",
                                (long long)walkers);
    if (of_vmc(point)->start_walkers > walkers)
        status = ergo_job_error(ctx, "/system/start_walkers", "%lld, but there are %lld walkers",
                                (long long)of_vmc(point)->start_walkers, (long long)walkers);
    if (start > equilibration)
        status = ergo_job_error(ctx, "/system/start_steps",
                                "%lld macroupdates, but /run/equilibration is %lld: some would be "
                                "measured before all walkers exist and the displacement is fixed",
                                (long long)start, (long long)equilibration);
    if (of_vmc(point)->target_acceptance.present && start < HELIUM_TUNE_EVERY)
        status = ergo_job_error(ctx, "/system/target_acceptance",
                                "tuning needs /system/start_steps, at least %d (better hundreds); "
                                "found %lld",
                                HELIUM_TUNE_EVERY, (long long)start);
    const enum ergo_status liquid = helium_check_liquid(ctx, point, 0);
    return status == ERGO_OK ? liquid : status;
}
