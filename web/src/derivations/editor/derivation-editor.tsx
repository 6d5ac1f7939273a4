import { useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { ApiError, messageOf } from '../../api/api-error.ts'
import type { SheetContract } from '../../api/contract.ts'
import { derivationFileQuery, derivationsQuery } from '../../api/queries.ts'
import { server } from '../../api/server.ts'
import type { PreviewAnswer } from '../../../../src/wire/definition/preview.ts'
import type { DerivationAnswer } from '../../../../src/wire/definition/derivations.ts'
import { DerivationForm } from '../forms/derivation-form.tsx'
import { DerivationPreview } from '../preview/derivation-preview.tsx'
import { doubtText } from '../preview/preview-text.ts'
import { RunButtons, type RunLimit } from '../preview/run-buttons.tsx'
import { openRunDialog } from '../../runs/dialogs/run-dialog.tsx'
import { useActor } from '../../state/actor.ts'
import { Stored, useStored } from '../../state/stored.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { showSuccess } from '../../ui/toasts.tsx'
import { ChangeImpact } from './change-impact.tsx'
import './derivation-editor.css'
import { draftKey } from './drafts.ts'
import { EditAsTabs } from './edit-as-tabs.tsx'
import type { Fault } from './fault-line.ts'
import { madeStale, pendingTargets } from './impact-text.ts'
import { keepFresh } from './keep-fresh.ts'
import { OutdatedDraft } from './outdated-draft.tsx'
import { faultOf, useChangeCheck, type ChangeCheck } from './use-change-check.ts'
import { useFileDraft, type FileDraft } from './use-file-draft.ts'
import { YamlEditor, type YamlEditorHandle } from './yaml-editor.tsx'

interface DerivationEditorProps {
  readonly contract: SheetContract
  readonly sheet: string
  readonly file: string
  readonly onClose: () => void
}

const STATUS = 'derivation-editor-status'
const KEYS = 'derivation-editor-keys'
const NONE: readonly DerivationAnswer[] = []

/** The way in which files were edited last: in a form, or as text. */
const editedAs = new Stored('edit-as', (value) => (value === 'yaml' ? 'yaml' : 'form'))

/** The panel in which the text of a derivation is edited, checked and saved. */
export default function DerivationEditor({ contract, sheet, file, onClose }: DerivationEditorProps) {
  const [actor] = useActor()
  const draft = useFileDraft(draftKey(sheet, file), file)
  const { text, base, isDirty, isOutdated } = draft
  const check = useChangeCheck({ file, text, base }, actor, isDirty && !isOutdated)
  const { data } = useQuery(derivationsQuery)
  const [answer, setAnswer] = useState<PreviewAnswer | null>(null)
  const editor = useRef<YamlEditorHandle>(null)
  const footer = useRef<HTMLElement>(null)
  const { view, setView, goToLine } = useView(editor)
  const { save, isSaving, refused } = useSave(file, draft, actor, onClose)
  const error = refused ?? (isDirty && !isOutdated ? check.error : null)
  const problem = useMemo(() => (error === null ? null : faultOf(error, file)), [error, file])
  const fault = useMemo(
    (): Fault | null =>
      problem === null || problem.line === null ? null : { line: problem.line, message: problem.message },
    [problem],
  )
  const canSave =
    isDirty && !isOutdated && check.isCurrent && check.effect !== null && isAllowed(check) && !isSaving
  const stale = check.effect === null ? 0 : madeStale(check.effect.targets)
  const isPending = check.effect !== null && pendingTargets(check.effect.targets).length > 0
  const isNew = draft.isLoaded && base === null
  const discard = (): void => {
    const undo = draft.discard()
    showSuccess('Draft discarded', { name: 'Undo', run: undo })
    if (draft.current === null) onClose()
  }
  return (
    <section
      className="derivation-panel derivation-editor"
      aria-label={`Edit ${file}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) onClose()
      }}
    >
      <header>
        <h2>Edit {file}</h2>
        <IconButton label="Close the editor" onClick={onClose}>
          <X size={16} />
        </IconButton>
      </header>
      {draft.error !== null && (
        <p className="form-error" role="alert">
          {messageOf(draft.error)}
        </p>
      )}
      <EditAsTabs
        view={view}
        onView={setView}
        className="editor-tabs"
        yamlClassName="editor-yaml"
        form={
          draft.isLoaded && (
            <DerivationForm
              contract={contract}
              file={file}
              text={text}
              onText={draft.set}
              onYaml={() => setView('yaml')}
              actor={actor}
            />
          )
        }
        yaml={
          <>
            {draft.isLoaded ? (
              <YamlEditor
                key={file}
                ref={editor}
                text={text}
                label={`Text of ${file}`}
                describedBy={`${KEYS} ${STATUS}`}
                fault={fault}
                onChange={draft.set}
                onSave={() => canSave && void save('only')}
                onLeave={() => footer.current?.querySelector<HTMLElement>('button:not(:disabled)')?.focus()}
              />
            ) : (
              <div className="yaml-editor" aria-busy={draft.error === null} />
            )}
            <p className="form-hint editor-keys" id={KEYS}>
              <kbd>Ctrl S</kbd> saves, <kbd>Ctrl ]</kbd> indents, <kbd>Esc</kbd> leaves the editor
            </p>
          </>
        }
      />
      {draft.isLoaded && !isOutdated && (
        <DerivationPreview
          contract={contract}
          file={file}
          text={text}
          actor={actor}
          targetsNow={data?.derivations.find((each) => each.file === file)?.targets ?? null}
          onResult={setAnswer}
        />
      )}
      {isOutdated && (
        <OutdatedDraft
          file={file}
          text={text}
          base={base}
          current={draft.current}
          onKeep={draft.keepMine}
          onDiscard={discard}
        />
      )}
      <div className="editor-status" id={STATUS} role="status">
        {isOutdated ? null : !isDirty ? (
          <p className="form-hint">No changes. What you change is kept in this browser until you save it.</p>
        ) : problem !== null ? (
          <Problem problem={problem} isShown={view === 'yaml'} onGo={goToLine} />
        ) : check.effect === null ? (
          <p className="form-hint">Checking…</p>
        ) : (
          <div className={check.isCurrent ? '' : 'old'} aria-busy={!check.isCurrent}>
            {check.effect.conflicts.map((conflict) => (
              <p key={conflict} className="form-error">
                {conflict}
              </p>
            ))}
            <ChangeImpact effect={check.effect} derivations={data?.derivations ?? NONE} />
          </div>
        )}
      </div>
      <footer ref={footer} className="editor-actions">
        {isDirty && !isOutdated && (
          <Button look="quiet" className="editor-discard" onClick={discard}>
            {base === null ? 'Discard draft' : 'Discard changes'}
          </Button>
        )}
        {stale > 0 && (
          <Button
            disabled={!canSave}
            title="For edits that change no value, such as a comment: the present values count as fresh, without any call"
            onClick={() => void save('keep')}
          >
            Save, values still hold
          </Button>
        )}
        {isNew ? (
          <>
            <Button disabled={!canSave} onClick={() => void save('only')}>
              {isSaving ? 'Saving…' : 'Save only'}
            </Button>
            <RunButtons
              disabled={!canSave}
              onRun={(limit) => void save({ limit, doubt: doubtText(answer) })}
            />
          </>
        ) : (
          <>
            {isPending && (
              <Button
                disabled={!canSave}
                onClick={() => void save({ limit: null, doubt: doubtText(answer) })}
              >
                Save and recompute…
              </Button>
            )}
            <Button look="primary" disabled={!canSave} onClick={() => void save('only')}>
              {isSaving ? 'Saving…' : 'Save'}
            </Button>
          </>
        )}
      </footer>
    </section>
  )
}

interface View {
  readonly view: string
  readonly setView: (view: string) => void
  /** Moves the cursor to a line of the text. */
  readonly goToLine: (line: number) => void
}

function useView(editor: { readonly current: YamlEditorHandle | null }): View {
  const [view, setStored] = useStored(editedAs)
  const wanted = useRef<number | null>(null)
  useEffect(() => {
    if (view !== 'yaml' || wanted.current === null) return
    editor.current?.goToLine(wanted.current)
    wanted.current = null
  }, [view, editor])
  const setView = (next: string): void => setStored(next === 'yaml' ? 'yaml' : 'form')
  return {
    view,
    setView,
    goToLine: (line) => {
      if (view === 'yaml') editor.current?.goToLine(line)
      else wanted.current = line
      setView('yaml')
    },
  }
}

function isAllowed({ effect }: ChangeCheck): boolean {
  return effect !== null && effect.conflicts.length === 0
}

interface ProblemProps {
  readonly problem: { readonly line: number | null; readonly message: string }
  /** Whether the editor shows the message at its line. */
  readonly isShown: boolean
  readonly onGo: (line: number) => void
}

function Problem({ problem: { line, message }, isShown, onGo }: ProblemProps) {
  if (line === null) return <p className="form-error">{message}</p>
  return (
    <p className="form-error editor-problem">
      <Button look="quiet" onClick={() => onGo(line)}>
        Line {line}
      </Button>
      <span className={isShown ? 'visually-hidden' : ''}>{message}</span>
      {isShown && <span>has an error. Nothing is saved until you fix it.</span>}
    </p>
  )
}

/** The step after a saved change: none, marking the cells that it makes stale as fresh, or the plan of a run. */
type Next = 'only' | 'keep' | { readonly limit: RunLimit; readonly doubt: string | null }

interface Saving {
  readonly save: (next: Next) => Promise<void>
  readonly isSaving: boolean
  /** The error of the last attempt, until the text changes; null for none. */
  readonly refused: Error | null
}

/** Saves a draft. */
function useSave(file: string, draft: FileDraft, actor: string, onSaved: () => void): Saving {
  const client = useQueryClient()
  const [isSaving, setIsSaving] = useState(false)
  const [failure, setFailure] = useState<{ readonly text: string; readonly error: Error } | null>(null)
  const save = async (next: Next): Promise<void> => {
    const { text, base } = draft
    setIsSaving(true)
    setFailure(null)
    try {
      const { files, targets } = await server.definition.write(file, text, {
        ifVersion: base?.version,
        ifAbsent: base === null,
        actor,
      })
      const version = files.find(({ path }) => path === `derivations/${file}`)?.after
      if (typeof version === 'string')
        client.setQueryData(derivationFileQuery(file).queryKey, { file, text, version })
      draft.saved()
      void client.invalidateQueries({ queryKey: ['contract'] })
      void client.invalidateQueries({ queryKey: ['records'] })
      onSaved()
      if (next === 'keep') await keepFresh(file, actor)
      else if (next === 'only') offerRun(file, targets)
      else {
        const order = { targets: pendingTargets(targets), ...(next.limit !== null && { limit: next.limit }) }
        openRunDialog(order, `${file}: compute`, next.limit === null ? next.doubt : null)
      }
    } catch (error) {
      setIsSaving(false)
      // The draft becomes outdated when the file of by then is read.
      if (error instanceof ApiError && error.status === 412) {
        await client.invalidateQueries({ queryKey: derivationFileQuery(file).queryKey })
        return
      }
      setFailure({ text, error: error instanceof Error ? error : new Error(String(error)) })
    }
  }
  return { save, isSaving, refused: failure?.text === draft.text ? failure.error : null }
}

type Targets = Awaited<ReturnType<typeof server.definition.write>>['targets']

function offerRun(file: string, all: Targets): void {
  const targets = pendingTargets(all)
  showSuccess(
    `Saved ${file}`,
    targets.length === 0
      ? null
      : { name: 'Recompute…', run: () => openRunDialog({ targets }, `${file}: compute`) },
  )
}
