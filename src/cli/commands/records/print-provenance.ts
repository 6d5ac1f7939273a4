import {
  historyPages,
  readProvenance,
  type EntriesSelection,
  type ProvenanceQuery,
} from '../../../sheet/cells/read-provenance.ts'
import type { ProvenanceEntryAnswer } from '../../../wire/records/provenance.ts'
import { entryDetails, stepsText } from './entry-details.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { membersOf } from '../../terminal/object-lines.ts'
import { toSeconds, type Column } from '../../terminal/table.ts'

/** Prints the latest provenance entry of a cell. Throws as {@link readProvenance} does. */
export async function printProvenance({ sheet, out }: CommandContext, query: ProvenanceQuery): Promise<void> {
  // The log stores entries in wire form.
  const found = (await readProvenance(sheet, query)) as ProvenanceEntryAnswer | null
  await out.print(found, (screen) =>
    found === null ? screen.paint('dim', NOTHING) : membersOf(withSteps(found), screen),
  )
}

/** Prints all entries of a cell or a record, oldest first, as they are read. Throws as {@link readProvenance} does. */
export async function printHistory({ sheet, out }: CommandContext, query: EntriesSelection): Promise<void> {
  const pages = historyPages(sheet, query) as AsyncIterable<unknown> as AsyncIterable<
    readonly ProvenanceEntryAnswer[]
  >
  const columns = query.field === null ? COLUMNS_OF_RECORD : COLUMNS
  await out.printList(pages, { columns, none: NOTHING })
}

/** Returns an entry with the steps that a fallback tried as text. */
function withSteps(entry: ProvenanceEntryAnswer): ProvenanceEntryAnswer {
  const steps = stepsText(entry)
  return steps === null ? entry : Object.assign({}, entry, { steps })
}

const NOTHING = 'no value was written to this cell yet'

const FIELD: Column<ProvenanceEntryAnswer> = { header: 'field', value: ({ field }) => field }

const COLUMNS: readonly Column<ProvenanceEntryAnswer>[] = [
  { header: 'seq', value: ({ seq }) => seq },
  { header: 'at', value: ({ at }) => toSeconds(at) },
  { header: 'actor', value: ({ actor }) => actor },
  { header: 'source', value: ({ source }) => source, style: () => 'dim' },
  { header: 'value', value: ({ value }) => value, style: () => 'bold' },
  { header: 'previous', value: ({ previous }) => previous },
  { header: 'run', value: ({ run_id: run }) => run },
  { header: 'details', value: entryDetails },
]

const COLUMNS_OF_RECORD = COLUMNS.toSpliced(4, 0, FIELD)
