#!/bin/bash
#SBATCH --array=1-3 --time=02:00:00 --signal=B:USR1@120
part=part$SLURM_ARRAY_TASK_ID
if [ -e "$part/checkpoint" ]; then
    exec ergocl resume "$part" -q
fi
exec ergocl run tc.json --set /replicas=2 --part "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" -o "$part" -q
