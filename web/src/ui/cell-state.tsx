import './cell-state.css'

export type CellStateName =
  'fresh' | 'stale' | 'missing' | 'failed' | 'overridden' | 'blocked' | 'queued' | 'running'

/** The meaning of each state. */
export const STATE_LABELS: Readonly<Record<CellStateName, string>> = {
  fresh: 'Fresh: computed, and nothing has changed since',
  stale: 'Stale: an input or the derivation has changed since it was computed',
  missing: 'Missing: never computed',
  failed: 'Failed: the last attempt failed',
  overridden: 'Overridden: a manual value, not computed',
  blocked: 'Blocked: cannot be computed because of an input',
  queued: 'Queued: to be computed by the current run',
  running: 'Running: being computed now',
}

/** The symbol of a state, distinct in shape and colour. */
export function StateMark({ state }: { readonly state: CellStateName }) {
  return <span className={`state-mark ${state}`} role="img" aria-label={state} title={STATE_LABELS[state]} />
}
