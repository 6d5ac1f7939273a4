import type { Campaign } from '../campaign.ts'
import { testRounds } from '../support/test-rounds.ts'

/** The largest number of cases after which memory is compared. */
const CASES = 100_000

/** Requests from valid to hardly recognizable at all routes, over sockets. */
export const malformedRequests: Campaign = {
  name: 'malformed-requests',
  attack: 'Malformed requests',
  claim:
    'Each gets one answer with the envelope of errors; no status 500, no crash, no memory that is kept; records, log and counts agree at the end.',
  engines: ['sqlite'],
  goal: { requests: 1_000_000 },
  start: testRounds({
    files: { sqlite: 'test/fuzz/http-fuzz.test.ts' },
    cases: CASES,
    unit: 'requests',
  }),
}
