import { getRecord, getRecordAsOf } from '../../sheet/queries/get-record.ts'
import { parseStoredJsonInTurns } from '../../sheet/json-body.ts'
import { listRecords } from '../../sheet/queries/list-records.ts'
import { runQuery } from '../../sheet/queries/run-query.ts'
import { summarizeRecords } from '../../sheet/queries/summarize-records.ts'
import { DIALECT } from '../../wire/schema/dialect.ts'
import type { QueryAnswer } from '../../wire/records/query.ts'
import type { RecordAnswer } from '../../wire/records/records.ts'
import { SummaryAnswer } from '../../wire/records/summary.ts'
import { QueryToolAnswer, RecordsToolAnswer, RecordToolAnswer } from '../../wire/tool-answers.ts'
import {
  GetRecordInput,
  ListRecordsInput,
  QueryInput,
  SummaryInput,
  TOOL_LIMIT,
  TOOL_LIMIT_MAX,
} from '../../wire/tool-inputs.ts'
import { parseForResult } from './call-tool.ts'
import { countText } from './count-text.ts'
import { defineTool, READS } from './tool.ts'

export const listRecordsTool = defineTool({
  name: 'list_records',
  title: 'List records',
  description:
    'Returns a page of the records, in creation order unless sorted, optionally filtered. Use query for counts, groups and joins, ' +
    'and summarize_records first for an overview of the values.',
  input: ListRecordsInput,
  output: RecordsToolAnswer,
  annotations: READS,
  async run({ fields, filter, where, sort, limit, cursor, as_of: asOf }, { sheet }) {
    const page = await listRecords(sheet, {
      fields: fields ?? null,
      filter: filter ?? null,
      where: where === undefined ? null : JSON.stringify(where),
      sort: sort ?? null,
      limit: limit ?? TOOL_LIMIT,
      cursor: cursor ?? null,
      asOf: asOf ?? null,
    })
    const records = (await parseForResult(page.records)) as RecordAnswer[]
    const more =
      page.nextCursor === null
        ? 'This is the last page.'
        : 'More follow: call again with cursor set to next_cursor.'
    return {
      structured: { records, limit: page.limit, next_cursor: page.nextCursor },
      text: `${countText(records.length, 'record')}. ${more}`,
    }
  },
})

export const getRecordTool = defineTool({
  name: 'get_record',
  title: 'Get a record',
  description:
    'Returns one record by its id, with its version for a later write; with as_of an earlier state.',
  input: GetRecordInput,
  output: RecordToolAnswer,
  annotations: READS,
  async run({ id, fields = null, as_of: asOf }, { sheet }) {
    if (asOf !== undefined) {
      const past = await getRecordAsOf(sheet, id, { fields, asOf })
      return {
        structured: { record: (await parseForResult(past)) as RecordAnswer, version: null },
        text: `Record ${JSON.stringify(id)} as of ${asOf}.`,
      }
    }
    const { json, version } = await getRecord(sheet, id, fields)
    return {
      structured: { record: (await parseForResult(json)) as RecordAnswer, version },
      text: `Record ${JSON.stringify(id)}.`,
    }
  },
})

export const queryTool = defineTool({
  name: 'query',
  title: 'Query with SQL',
  description:
    `Runs one read-only SELECT (${DIALECT}) over the one table "records", whose columns are the fields of the contract. ` +
    'Pass values in params, one for each plain ? in order. Use ORDER BY, LIMIT and OFFSET for further rows.',
  input: QueryInput,
  output: QueryToolAnswer,
  annotations: READS,
  async run({ sql, params = [], limit = TOOL_LIMIT }, { sheet }) {
    const answer = (await parseStoredJsonInTurns(await runQuery(sheet, { sql, params }))) as QueryAnswer
    const rows = answer.rows.slice(0, limit)
    const cut = rows.length < answer.rows.length
    const truncated = cut || answer.truncated === true
    return {
      structured: { rows, count: rows.length, ...(truncated ? { truncated } : {}) },
      text: truncated
        ? `The first ${rows.length} of ${answer.truncated === true ? 'more than ' : ''}${answer.rows.length} rows. ` +
          `For others use ORDER BY with LIMIT and OFFSET${limit < TOOL_LIMIT_MAX ? ', aggregate, or give a higher limit' : ', or aggregate'}.`
        : `${countText(rows.length, 'row')}.`,
    }
  },
})

export const summarizeRecordsTool = defineTool({
  name: 'summarize_records',
  title: 'Summarize records',
  description:
    'Counts the records (that match a filter), and summarizes each named field: records without a value, the most ' +
    'frequent values, the number of distinct values, and for numbers and dates a histogram. The cheapest overview of a field.',
  input: SummaryInput,
  output: SummaryAnswer,
  annotations: READS,
  async run({ fields = null, filter = null }, { sheet }) {
    const summary = JSON.parse(String(await summarizeRecords(sheet, { fields, filter }))) as SummaryAnswer
    return { structured: summary, text: `${countText(summary.count, 'record')}.` }
  },
})
