import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ApiError, messageOf } from '../api/api-error.ts'
import { server } from '../api/server.ts'
import { OutdatedDraft } from '../derivations/editor/outdated-draft.tsx'
import { YamlEditor, type YamlEditorHandle } from '../derivations/editor/yaml-editor.tsx'
import { useActor } from '../state/actor.ts'
import { Button } from '../ui/button.tsx'
import { showSuccess } from '../ui/toasts.tsx'
import { useSettled } from '../ui/use-settled.ts'
import './repair-definition.css'
import { CONTRACT, mayRepair } from './may-repair.ts'
import { useBrokenFiles, type BrokenFile } from './use-broken-files.ts'

const SETTLE_MS = 400
const STATUS = 'repair-status'

interface RepairDefinitionProps {
  /** The error of the sheet as it is, at a file that can be repaired. */
  readonly error: ApiError
}

/** The page with the definition files that are not valid: each error at its line, and all files saved together once they are valid. */
export default function RepairDefinition({ error: present }: RepairDefinitionProps) {
  const client = useQueryClient()
  const [actor] = useActor()
  const [paths, setPaths] = useState<readonly string[]>([])
  const { files, error: unread, set, keepMine, discard } = useBrokenFiles(paths)
  const edited = files.filter(({ isDirty }) => isDirty)
  const isOutdated = edited.some((file) => file.isOutdated)
  const contract = files.find(({ path }) => path === CONTRACT)
  const order = orderOf(contract, edited)
  const key = JSON.stringify(order)
  const settled = useSettled(key, SETTLE_MS)
  const isChecked = order !== null && edited.length > 0 && !isOutdated && settled === key
  const check = useQuery({
    queryKey: ['contract', 'repair', settled, actor],
    queryFn: ({ signal }) =>
      order === null
        ? null
        : server.definition.writeContract(order.change, {
            dryRun: true,
            ifVersion: order.version,
            actor,
            signal,
          }),
    enabled: isChecked,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  })
  const [isSaving, setIsSaving] = useState(false)
  const [refused, setRefused] = useState<Error | null>(null)
  const isCurrent = isChecked && !check.isFetching && !check.isPlaceholderData
  const error = edited.length === 0 ? present : (refused ?? (isCurrent ? check.error : null))
  const conflict = (isCurrent && check.data?.conflicts[0]) || null
  const canSave = isCurrent && check.error === null && conflict === null && !isSaving
  const wrong = placeOf(error)?.file ?? null
  // A file stays on the page once it had an error.
  if (wrong !== null && mayRepair(wrong) && !paths.includes(wrong)) setPaths([...paths, wrong])

  const save = async (): Promise<void> => {
    if (!canSave || order === null) return
    setIsSaving(true)
    setRefused(null)
    try {
      await server.definition.writeContract(order.change, { ifVersion: order.version, actor })
      showSuccess(`Saved ${edited.map(({ path }) => path).join(', ')}`)
    } catch (thrown) {
      setRefused(thrown instanceof Error ? thrown : new Error(String(thrown)))
    } finally {
      setIsSaving(false)
      void client.invalidateQueries()
    }
  }
  return (
    <section className="repair" aria-label="Repair the sheet">
      <div role="alert" className="repair-head">
        <h1>A definition file is not valid</h1>
        <p>Fix it here, or in the folder of the sheet; the page then goes on by itself.</p>
      </div>
      {paths.map((path) => {
        const file = files.find((each) => each.path === path)
        return (
          file !== undefined && (
            <FileEditor
              key={path}
              file={file}
              // The error of the file on the server is not one of the edited text.
              error={edited.length > 0 && error !== null && isContractError(error) ? null : error}
              onText={(text) => {
                setRefused(null)
                set(path, text)
              }}
              onKeep={() => keepMine(path)}
              onDiscard={() => discard(path)}
              onSave={() => void save()}
            />
          )
        )
      })}
      <div id={STATUS} role="status" className="repair-status" aria-busy={edited.length > 0 && !isCurrent}>
        {isOutdated ? null : unread !== null ? (
          <p className="form-error">{messageOf(unread)}</p>
        ) : error !== null ? (
          <>
            <p className="form-error">{error.message}</p>
            {edited.length > 0 && isContractError(error) && (
              <p className="form-hint">
                The sheet has never been opened, and the server cannot change it yet. Fix the file in the
                folder of the sheet.
              </p>
            )}
          </>
        ) : conflict !== null ? (
          <p className="form-error">{conflict}</p>
        ) : !isCurrent ? (
          <p className="form-hint">Checking…</p>
        ) : (
          <p className="form-hint">All files are valid.</p>
        )}
      </div>
      <footer>
        <Button look="primary" disabled={!canSave} onClick={() => void save()}>
          {isSaving ? 'Saving…' : 'Save'}
        </Button>
      </footer>
    </section>
  )
}

interface FileEditorProps {
  readonly file: BrokenFile
  /** The present error, of this file or another. */
  readonly error: Error | null
  readonly onText: (text: string) => void
  readonly onKeep: () => void
  readonly onDiscard: () => void
  readonly onSave: () => void
}

function FileEditor({ file, error, onText, onKeep, onDiscard, onSave }: FileEditorProps) {
  const editor = useRef<YamlEditorHandle>(null)
  const { path, text, base, current, isOutdated } = file
  const place = placeOf(error)
  const line = place?.file === path ? place.line : null
  const message = error?.message ?? ''
  const [first] = useState(line)
  useEffect(() => {
    if (first !== null) editor.current?.goToLine(first)
  }, [first])
  const [fault, setFault] = useState<{ readonly line: number; readonly message: string } | null>(null)
  const isSame = line === null ? fault === null : fault?.line === line && fault.message === message
  if (!isSame) setFault(line === null ? null : { line, message })
  return (
    <div className="repair-file">
      <h2>{path}</h2>
      <YamlEditor
        ref={editor}
        text={text}
        label={`Text of ${path}`}
        describedBy={STATUS}
        fault={fault}
        onChange={onText}
        onSave={onSave}
        onLeave={() => document.querySelector<HTMLElement>('.repair > footer button:not(:disabled)')?.focus()}
      />
      {isOutdated && (
        <OutdatedDraft
          file={path}
          text={text}
          base={base}
          current={current}
          onKeep={onKeep}
          onDiscard={onDiscard}
        />
      )}
    </div>
  )
}

/** Returns the request that saves edited files together; null until the contract is read. */
function orderOf(contract: BrokenFile | undefined, edited: readonly BrokenFile[]) {
  if (contract === undefined) return null
  const derivations = edited
    .filter(({ path }) => path !== CONTRACT)
    .map(({ path, ...file }) => ({ file: path.replace('derivations/', ''), ...file }))
  return {
    version: contract.base.version,
    change: {
      text: contract.text,
      derivations: Object.fromEntries(derivations.map(({ file, text }) => [file, text])),
      versions: Object.fromEntries(derivations.map(({ file, base }) => [file, base.version])),
    },
  }
}

function placeOf(error: Error | null): ApiError['place'] {
  return error instanceof ApiError ? error.place : null
}

function isContractError(error: Error): boolean {
  return error instanceof ApiError && error.type === 'ContractError'
}
