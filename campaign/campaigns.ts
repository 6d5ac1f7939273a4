import type { Campaign } from './campaign.ts'
import { hostileSql } from './campaigns/hostile-sql.ts'
import { malformedRequests } from './campaigns/malformed-requests.ts'

/** The campaigns of the track record, in its order. */
export const CAMPAIGNS: readonly Campaign[] = [malformedRequests, hostileSql]
