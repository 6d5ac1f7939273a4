import { useQuery } from '@tanstack/react-query'
import { Pencil, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { DerivationAnswer } from '../../../src/wire/definition/derivations.ts'
import type { StatusAnswer, TargetStatusAnswer } from '../../../src/wire/runs/status.ts'
import { derivationFileQuery } from '../api/queries.ts'
import type { RunOrder } from '../../../src/client/client.ts'
import { openRunDialog } from '../runs/dialogs/run-dialog.tsx'
import { useStored } from '../state/stored.ts'
import { editFieldPath } from '../state/view-state.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { formatCount } from '../ui/format.ts'
import './derivation-panel.css'
import { DerivationText } from './derivation-text.tsx'
import { draftKey, drafts, storeDraft } from './editor/drafts.ts'
import { FileVersions } from './editor/file-versions.tsx'
import { RemoveDialog } from './editor/remove-dialog.tsx'
import { StatusBar } from './status-bar.tsx'
import { countsText, sumCounts } from './status-text.ts'

interface DerivationPanelProps {
  readonly derivation: DerivationAnswer
  readonly status: StatusAnswer
  /** The name of the sheet. */
  readonly sheet: string
  /** Whether the server refuses changes of the definition. */
  readonly isReadOnly: boolean
  /** Whether the button *Edit* has the focus at first. */
  readonly takesFocus: boolean
  readonly onEdit: () => void
  readonly onClose: () => void
}

/** The details of a derivation, with buttons that run and edit it. */
export function DerivationPanel({ derivation, status, onClose, ...editing }: DerivationPanelProps) {
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
          <Target key={target} name={target} status={status[target] ?? null} mayEdit={!editing.isReadOnly} />
        ))}
      </ul>
      <FileHead file={file} {...editing} onRemoved={onClose} />
      <DerivationText text={text} />
      <h3>Versions</h3>
      <Versions file={file} {...editing} />
    </section>
  )
}

type FileHeadProps = Pick<DerivationPanelProps, 'sheet' | 'isReadOnly' | 'takesFocus' | 'onEdit'> & {
  readonly file: string
  readonly onRemoved: () => void
}

/** The heading of the text, with the buttons that edit and remove it or the reason why there are none. */
function FileHead({ file, sheet, isReadOnly, takesFocus, onEdit, onRemoved }: FileHeadProps) {
  const [isRemoving, setIsRemoving] = useState(false)
  const [stored] = useStored(drafts)
  const hasDraft = stored[draftKey(sheet, file)] !== undefined
  return (
    <>
      <div className="derivation-file">
        <h3>File</h3>
        {!isReadOnly && (
          <span className="derivation-file-actions">
            <Button look="quiet" icon={<Trash2 size={14} />} onClick={() => setIsRemoving(true)}>
              Remove…
            </Button>
            {/* The focus returns here from the editor. */}
            <Button icon={<Pencil size={14} />} autoFocus={takesFocus} onClick={onEdit}>
              {hasDraft ? 'Continue editing' : 'Edit'}
            </Button>
          </span>
        )}
      </div>
      {isRemoving && <RemoveDialog file={file} onClose={() => setIsRemoving(false)} onRemoved={onRemoved} />}
      {isReadOnly ? (
        <p className="form-hint derivation-note">
          The server was started with <code>--read-only-definition</code>: edit the file in the folder of the
          sheet.
        </p>
      ) : (
        hasDraft && <p className="form-hint derivation-note">You have changes that are not saved.</p>
      )}
    </>
  )
}

/** The versions of the file. Restoring one begins a draft, whose effect is seen before it is saved. */
function Versions({ file, sheet, isReadOnly, onEdit }: Omit<FileHeadProps, 'onRemoved' | 'takesFocus'>) {
  const [stored] = useStored(drafts)
  const { data: present } = useQuery(derivationFileQuery(file))
  const key = draftKey(sheet, file)
  const hasDraft = stored[key] !== undefined
  const restore = (text: string): void => {
    storeDraft(key, { text, base: present ?? null })
    onEdit()
  }
  return (
    <FileVersions
      file={file}
      hasDraft={hasDraft}
      onRestore={isReadOnly || present === undefined ? null : restore}
    />
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

interface TargetProps {
  readonly name: string
  readonly status: TargetStatusAnswer | null
  readonly mayEdit: boolean
}

function Target({ name, status, mayEdit }: TargetProps) {
  return (
    <li>
      <span className="derivation-target">
        <code>{name}</code>
        {mayEdit && (
          <Link href={editFieldPath(name)} aria-label={`Edit field ${name}`}>
            Edit field
          </Link>
        )}
      </span>
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
  const { ready, ...counts } = sumCounts(targets.flatMap((target) => status[target] ?? []))
  const open = (order: RunOrder, title: string): void =>
    openRunDialog({ ...order, targets: [...targets] }, `${file}: ${title}`)
  return (
    <div className="derivation-run">
      <Button
        look={ready.missing > 0 ? 'primary' : 'plain'}
        disabled={ready.missing === 0}
        onClick={() => open({ only: 'missing' }, 'compute missing cells')}
      >
        Compute missing cells{inBrackets(ready.missing)}
      </Button>
      {ready.stale > 0 && (
        <Button onClick={() => open({ only: 'stale' }, 'compute stale cells')}>
          Compute stale cells{inBrackets(ready.stale)}
        </Button>
      )}
      <Button disabled={ready.failed === 0} onClick={() => open({ only: 'failed' }, 'retry failed cells')}>
        Retry failed cells{inBrackets(ready.failed)}
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
