import { X } from 'lucide-react'
import type { DerivationAnswer } from '../../../src/wire/definition/derivations.ts'
import type { StatusAnswer, TargetStatusAnswer } from '../../../src/wire/runs/status.ts'
import type { RunOrder } from '../../../src/client/client.ts'
import { openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import './derivation-panel.css'
import { DerivationText } from './derivation-text.tsx'
import { StatusBar } from './status-bar.tsx'
import { countsText, sumCounts } from './status-text.ts'

interface DerivationPanelProps {
  readonly derivation: DerivationAnswer
  readonly status: StatusAnswer
  readonly onClose: () => void
}

/** The details of a derivation, with buttons that run it. */
export function DerivationPanel({ derivation, status, onClose }: DerivationPanelProps) {
  const { file, kind, inputs, targets, hosts, resources = [], text } = derivation
  return (
    <section
      className="derivation-panel"
      aria-label={file}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <header>
        <h2>{file}</h2>
        <IconButton label="Close" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      <RunButtons file={file} targets={targets} status={status} />
      <dl>
        <dt>Kind</dt>
        <dd>{kind}</dd>
        <dt>Inputs</dt>
        <dd>{inputs.length === 0 ? 'none' : <Names names={inputs} />}</dd>
        {hosts.length > 0 && (
          <>
            <dt>Calls</dt>
            <dd>
              <Names names={hosts} />
            </dd>
          </>
        )}
        {resources.length > 0 && (
          <>
            <dt>Uses</dt>
            <dd>
              <Names names={resources.map(({ type, name }) => `${type} ${name}`)} />
            </dd>
          </>
        )}
      </dl>
      <h3>{targets.length === 1 ? 'Target' : 'Targets'}</h3>
      <ul className="derivation-targets">
        {targets.map((target) => (
          <Target key={target} name={target} status={status[target] ?? null} />
        ))}
      </ul>
      <h3>File</h3>
      <DerivationText text={text} />
    </section>
  )
}

function Names({ names }: { readonly names: readonly string[] }) {
  return (
    <span className="derivation-names">
      {names.map((name) => (
        <code key={name}>{name}</code>
      ))}
    </span>
  )
}

function Target({ name, status }: { readonly name: string; readonly status: TargetStatusAnswer | null }) {
  return (
    <li>
      <code>{name}</code>
      {status !== null && (
        <>
          <StatusBar counts={status} />
          <span className="derivation-counts">{countsText(status)}</span>
          {/* The server keeps the last error after the cell was computed; it matters only while cells are failed. */}
          {status.failed > 0 && status.last_error !== null && (
            <p className="derivation-error">{status.last_error}</p>
          )}
        </>
      )}
    </li>
  )
}

interface RunButtonsProps {
  readonly file: string
  readonly targets: readonly string[]
  readonly status: StatusAnswer
}

function RunButtons({ file, targets, status }: RunButtonsProps) {
  const counts = sumCounts(targets.flatMap((target) => status[target] ?? []))
  const open = (order: RunOrder, title: string): void =>
    openRunDialog({ ...order, targets: [...targets] }, `${file}: ${title}`)
  return (
    <div className="derivation-run">
      <Button
        look={counts.missing > 0 ? 'primary' : 'plain'}
        disabled={counts.missing === 0}
        onClick={() => open({ only: 'missing' }, 'compute missing cells')}
      >
        Compute missing cells{inBrackets(counts.missing)}
      </Button>
      {counts.stale > 0 && (
        <Button onClick={() => open({ only: 'stale' }, 'compute stale cells')}>
          Compute stale cells{inBrackets(counts.stale)}
        </Button>
      )}
      <Button disabled={counts.failed === 0} onClick={() => open({ only: 'failed' }, 'retry failed cells')}>
        Retry failed cells{inBrackets(counts.failed)}
      </Button>
      <Button
        disabled={counts.total_records === 0}
        onClick={() => open({ force: true }, 'recompute all cells')}
      >
        Recompute all cells…
      </Button>
    </div>
  )
}

function inBrackets(count: number): string {
  return count === 0 ? '' : ` (${formatCount(count)})`
}
