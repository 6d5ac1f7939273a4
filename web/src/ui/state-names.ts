/** The states by which records can be filtered, those that need attention first, with their names in filters. */
export const FILTER_STATES = {
  failed: 'failed',
  stale: 'stale',
  missing: 'never computed',
  blocked: 'waiting for an input',
  overridden: 'overridden',
  fresh: 'fresh',
} as const

/** The verdicts by which records can be filtered, with their names in filters. */
export const FILTER_VERDICTS = { flagged: 'flagged', approved: 'approved' } as const

/** Returns the name of a state or a verdict in filters; an unknown one as it is. */
export function stateName(state: unknown): string {
  return (
    Object.entries({ ...FILTER_STATES, ...FILTER_VERDICTS }).find(([name]) => name === state)?.[1] ??
    String(state)
  )
}
