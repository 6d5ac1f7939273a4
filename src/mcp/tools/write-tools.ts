import { deleteRecords } from '../../sheet/writes/delete-records.ts'
import { upsertRecords } from '../../sheet/writes/upsert-records.ts'
import { DeleteRecordsAnswer } from '../../wire/records/records.ts'
import { UpsertToolAnswer } from '../../wire/tool-answers.ts'
import { DeleteInput, UpsertInput } from '../../wire/tool-inputs.ts'
import { defineTool } from './tool.ts'
import { countText } from './count-text.ts'

/** Replaces values; a repeated call changes nothing more. */
const REPLACES = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }

export const upsertRecordsTool = defineTool({
  name: 'upsert_records',
  title: 'Insert or update records',
  description:
    'Inserts records, or merges them into those with the same id, all or none. ' +
    'The contract validates the values. The provenance log keeps earlier values.',
  input: UpsertInput,
  output: UpsertToolAnswer,
  annotations: REPLACES,
  async run({ records, if_version: version }, { sheet, actor }) {
    // As text, which the writing thread parses with its limits.
    const body = Buffer.from(JSON.stringify({ records }))
    const ifMatch = version === undefined ? null : [version]
    const result = await upsertRecords(sheet, body, { actor, ifMatch })
    const { inserted, updated, total } = result
    return {
      structured: { inserted, updated, total, version: result.version },
      text: `${inserted} inserted, ${updated} updated; the sheet has ${countText(total, 'record')} now.`,
    }
  },
})

export const deleteRecordsTool = defineTool({
  name: 'delete_records',
  title: 'Delete records',
  description:
    'Deletes records by id. Ids that do not exist are no error. The provenance log keeps their values.',
  input: DeleteInput,
  output: DeleteRecordsAnswer,
  annotations: REPLACES,
  async run({ ids, if_version: version }, { sheet, actor }) {
    const ifMatch = version === undefined ? null : [version]
    const { deleted, remaining } = await deleteRecords(sheet, { ids, actor, ifMatch })
    return {
      structured: { deleted, remaining },
      text: `${deleted} deleted; the sheet has ${countText(remaining, 'record')} now.`,
    }
  },
})
