import type { ImportAnswer } from '../../../src/wire/records/import.ts'
import type { FileImport } from '../../../src/client/client.ts'
import type { QueryClient } from '@tanstack/react-query'
import { messageOf } from '../api/api-error.ts'
import { server } from '../api/server.ts'
import { beginImport } from '../runs/progress/imports-here.ts'
import { beginDialogRevert } from '../runs/progress/reverts-in-dialog.ts'
import { countOf, formatCount } from '../ui/format.ts'
import { showError, showSuccess } from '../ui/toasts.tsx'

/** An import, and the fields that were added for it. */
export interface OrderedImport {
  readonly file: File
  readonly options: FileImport
  readonly actor: string
  readonly addedFields: readonly string[]
}

/** Imports a file, and shows the result with its undo. Throws ApiError. */
export async function importFile(client: QueryClient, order: OrderedImport): Promise<void> {
  const { file, options, actor } = order
  const end = beginImport(file.name)
  try {
    const answer = await server.records.import(file, options, { actor })
    const run = answer.run_id
    showSuccess(
      `${file.name}: ${importCounts(answer)}`,
      run === null ? null : { name: 'Undo', run: () => void undoImport(client, run, order) },
    )
  } finally {
    end()
    refetchAll(client)
  }
}

/** Reverts an import, and removes the fields that were added for it, unless they have values by now. */
async function undoImport(
  client: QueryClient,
  run: string,
  { file, actor, addedFields }: OrderedImport,
): Promise<void> {
  const end = beginDialogRevert(run)
  try {
    const { conflicts, run_id: revert } = await server.runs.revert(run, { actor })
    for (const name of addedFields.toReversed()) {
      // A field with values is not removed.
      await server.definition.removeField(name, 0, { actor }).catch(() => undefined)
    }
    const kept =
      conflicts.length === 0 ? '' : `; ${countOf(conflicts.length, 'value')} changed since, and kept`
    showSuccess(`The import of ${file.name} is undone${kept}`, {
      href: `/runs/${revert ?? run}`,
      name: 'Show',
    })
  } catch (error) {
    showError(new Error(`The import of ${file.name} is not undone: ${messageOf(error)}`), {
      href: `/runs/${run}`,
      name: 'Show the import',
    })
  } finally {
    end()
    refetchAll(client)
  }
}

function refetchAll(client: QueryClient): void {
  for (const first of ['records', 'runs', 'contract']) void client.invalidateQueries({ queryKey: [first] })
}

type Counts = Pick<ImportAnswer, 'inserted' | 'updated' | 'unchanged'>

/** Returns the counts of an import: `12 records created, 3 changed, 240 unchanged`. */
export function importCounts({ inserted, updated, unchanged }: Counts): string {
  const parts = [
    { count: inserted, what: 'created' },
    { count: updated, what: 'changed' },
    { count: unchanged, what: 'unchanged' },
  ].filter(({ count }) => count > 0)
  if (parts.length === 0) return 'no records'
  return parts
    .map(({ count, what }, index) => `${index === 0 ? countOf(count, 'record') : formatCount(count)} ${what}`)
    .join(', ')
}
