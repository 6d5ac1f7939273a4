import { Ban, CircleAlert, CircleCheck, CircleX, LoaderCircle, Unplug } from 'lucide-react'
import type { RunSummary } from '../../../../src/wire/runs/runs.ts'
import './run-state.css'
import { RUN_STATE_LABELS, runStateOf } from './run-text.ts'

const ICONS = {
  running: LoaderCircle,
  finished: CircleCheck,
  failed: CircleX,
  cancelled: Ban,
  interrupted: Unplug,
} as const

/** An icon and a label for the state of a run. */
export function RunState({ run }: { readonly run: Pick<RunSummary, 'state' | 'failed' | 'total'> }) {
  const state = runStateOf(run.state)
  // A finished run with failed cells shows a warning.
  const Icon = state === 'finished' && run.failed > 0 ? CircleAlert : ICONS[state]
  return (
    <span
      className={`run-state ${state} ${run.failed > 0 ? 'with-failures' : ''}`}
      title={RUN_STATE_LABELS[state]}
    >
      <Icon size={15} aria-hidden="true" />
      {state === 'running' && run.total === 0 ? 'waiting' : state}
    </span>
  )
}
