import type { Campaign } from './campaign.ts'
import { diskFaults } from './campaigns/disk-faults.ts'
import { everything } from './campaigns/everything.ts'
import { hostileSql } from './campaigns/hostile-sql.ts'
import { killRuns } from './campaigns/kill-runs.ts'
import { killWriters } from './campaigns/kill-writers.ts'
import { linearizable } from './campaigns/linearizable.ts'
import { malformedRequests } from './campaigns/malformed-requests.ts'
import { powerLoss } from './campaigns/power-loss.ts'

/** The campaigns of the track record, in its order. */
export const CAMPAIGNS: readonly Campaign[] = [
  killWriters,
  killRuns,
  powerLoss,
  diskFaults,
  linearizable,
  malformedRequests,
  hostileSql,
  everything,
]
