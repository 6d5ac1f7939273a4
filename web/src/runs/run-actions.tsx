import { Play, RotateCcw, TableProperties, Undo2, X } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { RunAnswer } from '../../../src/wire/runs/runs.ts'
import { ANY_COLUMN, type Condition } from '../state/conditions.ts'
import { Button } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import { CancelRunDialog } from './dialogs/cancel-run-dialog.tsx'
import { RevertRunDialog } from './dialogs/revert-run-dialog.tsx'
import { openRunDialog } from './dialogs/run-dialog.tsx'
import { canRevert, orderOf, retryOrderOf } from './dialogs/run-order.ts'

const REVERT_LABELS = {
  materialize: 'Revert run…',
  revert: 'Undo revert…',
  import: 'Revert import…',
} as const

/** The buttons of a run. */
export function RunActions({ run }: { readonly run: RunAnswer }) {
  const [asking, setAsking] = useState<'cancel' | 'revert' | null>(null)
  const isMaterialize = run.kind === 'materialize'
  const endedEarly = run.state === 'interrupted' || run.state === 'cancelled' || run.state === 'failed'
  const close = (): void => setAsking(null)
  return (
    <div className="run-actions">
      {run.state === 'running' && (
        <Button icon={<X size={14} />} onClick={() => setAsking('cancel')}>
          Cancel…
        </Button>
      )}
      {isMaterialize && endedEarly && (
        <Button
          look="primary"
          icon={<Play size={14} />}
          onClick={() => openRunDialog(orderOf(run), `Continue run ${run.id}`)}
        >
          Continue…
        </Button>
      )}
      {isMaterialize && run.state !== 'running' && run.failed > 0 && (
        <Button
          icon={<RotateCcw size={14} />}
          onClick={() => openRunDialog(retryOrderOf(run), `Retry failed cells of run ${run.id}`)}
        >
          Retry failed cells ({formatCount(run.failed)})…
        </Button>
      )}
      {run.materialized > 0 && (
        <Link href={recordsPath(run)} className="button">
          <TableProperties size={14} />
          Show records
        </Link>
      )}
      {canRevert(run) && (
        <Button icon={<Undo2 size={14} />} onClick={() => setAsking('revert')}>
          {REVERT_LABELS[run.kind]}
        </Button>
      )}
      <CancelRunDialog run={run} open={asking === 'cancel'} onClose={close} />
      {asking === 'revert' && <RevertRunDialog run={run} onClose={close} />}
    </div>
  )
}

/** Returns the address of the records of which a run has stored values. */
function recordsPath({ id }: RunAnswer): string {
  const where: readonly Condition[] = [{ field: ANY_COLUMN, is: 'changedBy', value: [id] }]
  return `/?where=${encodeURIComponent(JSON.stringify(where))}`
}
