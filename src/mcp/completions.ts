import type { McpServer } from '@modelcontextprotocol/server'
import { listRecords } from '../sheet/queries/list-records.ts'
import { readDerivations } from '../sheet/schema/read-derivations.ts'
import { readFieldNames } from '../sheet/schema/read-contract.ts'
import type { Sheet } from '../sheet/sheet.ts'
import { DERIVATION_TEMPLATE, RECORD_TEMPLATE } from './resource-uris.ts'
import { protocolError } from './protocol-error.ts'

/** Most values of a completion that the protocol allows. */
const MOST = 100

type Completer = (sheet: Sheet, begun: string) => Promise<readonly string[]>

const fields: Completer = async (sheet, begun) => beginning((await readFieldNames(sheet)).fields, begun)
const targets: Completer = async (sheet, begun) => beginning((await readFieldNames(sheet)).targets, begun)
const recordIds: Completer = async (sheet, begun) => {
  const where = begun === '' ? null : JSON.stringify({ field: 'id', operator: 'starts_with', value: begun })
  const { records } = await listRecords(sheet, { fields: ['id'], sort: ['id'], limit: MOST + 1, where })
  return (JSON.parse(String(records)) as readonly { readonly id: string }[]).map(({ id }) => id)
}
const files: Completer = async (sheet, begun) =>
  beginning(
    (await readDerivations(sheet)).map(({ file }) => file),
    begun,
  )

/** Completers by prompt or template, then by argument. */
const COMPLETERS: Readonly<Record<string, Readonly<Record<string, Completer>>>> = {
  fill_missing_cells: { target: targets },
  find_odd_values: { field: fields },
  explain_cell: { field: fields, record_id: recordIds },
  [DERIVATION_TEMPLATE]: { file: files },
  [RECORD_TEMPLATE]: { id: recordIds },
}

/** Completes arguments of prompts and templates: names of fields, ids of records, files. */
export function registerCompletions(server: McpServer, sheet: Sheet, log: (error: unknown) => void): void {
  server.server.registerCapabilities({ completions: {} })
  server.server.setRequestHandler('completion/complete', async ({ params: { ref, argument } }) => {
    const of = ref.type === 'ref/prompt' ? ref.name : ref.uri
    const completers = Object.hasOwn(COMPLETERS, of) ? COMPLETERS[of] : undefined
    const complete =
      completers !== undefined && Object.hasOwn(completers, argument.name)
        ? completers[argument.name]
        : undefined
    if (complete === undefined) return { completion: { values: [], hasMore: false } }
    try {
      const values = await complete(sheet, argument.value)
      return { completion: { values: values.slice(0, MOST), hasMore: values.length > MOST } }
    } catch (error) {
      throw protocolError(error, null, log)
    }
  })
}

function beginning(names: readonly string[], begun: string): readonly string[] {
  const lower = begun.toLowerCase()
  return names.filter((name) => name.toLowerCase().startsWith(lower))
}
