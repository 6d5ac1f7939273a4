import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FileImport } from '../../../src/client/client.ts'
import type { FileColumnsAnswer } from '../../../src/wire/records/import.ts'
import { messageOf } from '../api/api-error.ts'
import type { SheetContract } from '../api/contract.ts'
import { server } from '../api/server.ts'
import { RunBar } from '../runs/display/run-bar.tsx'
import { useRunningRun } from '../runs/progress/running-cells.ts'
import { useActor } from '../state/actor.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { FormError } from '../ui/form-error.tsx'
import '../ui/form.css'
import { countOf } from '../ui/format.ts'
import { useSettled } from '../ui/use-settled.ts'
import {
  choiceFault,
  choicesOf,
  columnMapOf,
  newFieldsOf,
  withField,
  type ColumnChoices,
} from './column-choices.ts'
import './import-dialog.css'
import { ImportEffect } from './import-effect.tsx'
import { importFile } from './import-file.ts'
import { ImportMapping } from './import-mapping.tsx'

interface ImportDialogProps {
  readonly file: File
  readonly contract: SheetContract
  /** Whether columns can become new fields. */
  readonly mayAddFields: boolean
  readonly onClose: () => void
}

/** The dialog that maps the columns of a file, shows what its import would change, and imports it. */
export default function ImportDialog(props: ImportDialogProps) {
  const { file, onClose } = props
  const { data, error } = useQuery({
    queryKey: ['file columns', file.name, file.size, file.lastModified],
    queryFn: ({ signal }) => server.records.fileColumns(file, { name: file.name }, { signal }),
    staleTime: Infinity,
    retry: false,
  })
  if (data !== undefined) return <FileDialog {...props} read={data} />
  return (
    <Dialog
      title={`Import ${file.name}`}
      open
      onClose={onClose}
      actions={<Button onClick={onClose}>{error === null ? 'Cancel' : 'Close'}</Button>}
    >
      {error === null ? <p role="status">Reading the file…</p> : <FormError text={messageOf(error)} />}
    </Dialog>
  )
}

/** Milliseconds for which the choices must stay the same before their effect is requested. */
const SETTLED_MS = 300

function FileDialog({
  file,
  contract,
  mayAddFields,
  onClose,
  read,
}: ImportDialogProps & { readonly read: FileColumnsAnswer }) {
  const client = useQueryClient()
  const [actor] = useActor()
  const [choices, setChoices] = useState<ColumnChoices>(() => choicesOf(read.columns))
  const [keepEmpty, setKeepEmpty] = useState(false)
  const [error, setError] = useState<string | null>(null)
  const [isImporting, setIsImporting] = useState(false)
  const { run } = useRunningRun()
  const keyTitle = contract.titleOf('id')
  const fault = choiceFault(choices, { ids: read.ids, keyTitle, titleOf: contract.titleOf })
  const optionsOf = (chosen: ColumnChoices): FileImport => {
    const columns = columnMapOf(chosen)
    const numbered = read.ids === 'numbers' && !Object.values(columns).includes('id')
    return { name: file.name, columns, keep_empty: keepEmpty, ...(numbered && { numbered }) }
  }
  const wanted = JSON.stringify(optionsOf(choices))
  const settled = useSettled(wanted, SETTLED_MS)
  const effect = useQuery({
    queryKey: ['records', 'import', file.name, file.size, file.lastModified, settled, actor],
    queryFn: ({ signal }) =>
      server.records.import(
        file,
        { ...(JSON.parse(settled) as FileImport), dry_run: true },
        { actor, signal },
      ),
    enabled: fault === null && !isImporting,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  })
  const isCurrent = settled === wanted && !effect.isFetching
  const added = newFieldsOf(choices)
  // A new field may have a value in every record.
  const changed =
    added.length > 0
      ? (effect.data?.records ?? 0)
      : (effect.data?.inserted ?? 0) + (effect.data?.updated ?? 0)
  const mayImport = fault === null && isCurrent && effect.data?.fault_count === 0 && changed > 0

  const start = async (): Promise<void> => {
    setIsImporting(true)
    setError(null)
    let chosen = choices
    const addedFields: string[] = []
    try {
      for (const { column, name, type } of added) {
        const description = column === name ? '' : `Column “${column}” of ${file.name}`
        await server.definition.addField({ name, logicalType: type, description }, { actor })
        addedFields.push(name)
        chosen = withField(chosen, column, name)
      }
      await importFile(client, { file, options: optionsOf(chosen), actor, addedFields })
      onClose()
    } catch (thrown) {
      setError(messageOf(thrown))
      // The fields exist by now: the effect shows which of their values do not fit.
      setChoices(chosen)
      if (addedFields.length > 0) void client.invalidateQueries({ queryKey: ['contract'] })
    } finally {
      setIsImporting(false)
    }
  }
  return (
    <Dialog
      className="import-dialog"
      title={`Import ${file.name}`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{isImporting ? 'Close' : 'Cancel'}</Button>
          <Button look="primary" disabled={!mayImport || isImporting} onClick={() => void start()}>
            {isImporting ? 'Importing…' : `Import ${countOf(changed, 'record')}`}
          </Button>
        </>
      }
    >
      <ImportMapping
        contract={contract}
        columns={read.columns}
        choices={choices}
        mayAddFields={mayAddFields}
        disabled={isImporting}
        onChange={setChoices}
      />
      <label className="import-option">
        <input
          type="checkbox"
          checked={keepEmpty}
          disabled={isImporting}
          onChange={(event) => setKeepEmpty(event.target.checked)}
        />
        Keep present values where the file has an empty cell
      </label>
      {isImporting && run?.kind === 'import' && (
        <div className="import-progress">
          <RunBar run={run} />
          The import continues when you close this dialog.
        </div>
      )}
      <FormError text={error} />
      {fault !== null ? (
        <FormError text={fault} />
      ) : effect.error !== null ? (
        <FormError text={messageOf(effect.error)} />
      ) : (
        <ImportEffect contract={contract} effect={effect.data ?? null} isCurrent={isCurrent} added={added} />
      )}
    </Dialog>
  )
}
