import { ValidationError } from '../../errors/service-error.ts'
import { restoreRecords } from '../../sheet/writes/restore-records.ts'
import { revertCell, startRevert, type RevertReport } from '../../sheet/runs/revert.ts'
import { toRevertAnswer } from '../../wire/runs/revert.ts'
import { RestoreToolAnswer, RevertToolAnswer } from '../../wire/tool-answers.ts'
import { RestoreInput, RevertCellInput, RevertRunInput, TOOL_LIMIT } from '../../wire/tool-inputs.ts'
import { followRun } from './follow-run.ts'
import { defineTool, type ToolResult } from './tool.ts'
import { countText } from './count-text.ts'

/** Replaces values with earlier ones; a repeated call changes nothing more. */
const REVERTS = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }

/** Adds deleted records again; a repeated call is refused. */
const RESTORES = { ...REVERTS, destructiveHint: false, idempotentHint: false }

export const revertRunTool = defineTool({
  name: 'revert_run',
  title: 'Revert a run',
  description:
    'Restores the values from before a run in every cell that still has the value that the run wrote. A revert is itself a run, ' +
    'and can be reverted.',
  input: RevertRunInput,
  output: RevertToolAnswer,
  annotations: REVERTS,
  async run({ run_id: runId }, context) {
    const { sheet, actor } = context
    return described(await followRun(await startRevert(sheet, { runId, actor }), context))
  },
})

export const revertCellTool = defineTool({
  name: 'revert_cell',
  title: 'Revert a change of a cell',
  description:
    'Restores the value that a cell had before one of its provenance entries; get_provenance with history returns their seq.',
  input: RevertCellInput,
  output: RevertToolAnswer,
  annotations: REVERTS,
  async run({ record_id: recordId, field, seq }, { sheet, actor }) {
    return described(await revertCell(sheet, { recordId, field, seq, actor }))
  },
})

export const restoreRecordsTool = defineTool({
  name: 'restore_records',
  title: 'Restore deleted records',
  description:
    'Restores deleted records with their last values, all or none, at the end of the creation order. A record that exists is never overwritten.',
  input: RestoreInput,
  output: RestoreToolAnswer,
  annotations: RESTORES,
  async run({ ids, seq = null }, { sheet, actor }) {
    if (seq !== null && ids.length > 1) {
      throw new ValidationError('"seq" is the deletion of one record; give one id, or leave out "seq"')
    }
    const records = ids.map((recordId) => ({ recordId, seq }))
    const { reverted } = await restoreRecords(sheet, { records, actor })
    return { structured: { restored: reverted }, text: `${countText(reverted, 'record')} restored.` }
  },
})

/** Describes a report with the first few of its conflicts, which can be many. */
function described(report: RevertReport): ToolResult<RevertToolAnswer> {
  const { reverted, conflicts, run_id: runId } = toRevertAnswer(report)
  const left =
    conflicts.length === 0 ? '' : `; ${countText(conflicts.length, 'conflict')} skipped, changed since`
  return {
    structured: {
      reverted,
      conflicts: conflicts.slice(0, TOOL_LIMIT),
      conflict_count: conflicts.length,
      run_id: runId,
    },
    text: `${countText(reverted, 'cell')} reverted${left}.`,
  }
}
