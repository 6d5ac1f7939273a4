import { explainCell } from '../../sheet/cells/explain-cell.ts'
import { readCellStates } from '../../sheet/cells/read-cell-states.ts'
import { readContract } from '../../sheet/schema/read-contract.ts'
import { readChoices } from '../../sheet/schema/read-choices.ts'
import { readDerivations } from '../../sheet/schema/read-derivations.ts'
import { readPermissions } from '../../sheet/schema/read-permissions.ts'
import { readLatestHistory, readProvenance } from '../../sheet/cells/read-provenance.ts'
import { readStatus } from '../../sheet/cells/read-status.ts'
import { requireFields } from '../../sheet/queries/select-fields.ts'
import { DerivationListAnswer, toDerivationListAnswer } from '../../wire/definition/derivations.ts'
import type { ProvenanceEntryAnswer } from '../../wire/records/provenance.ts'
import { CellExplanationAnswer, toCellExplanationAnswer, toStatusAnswer } from '../../wire/runs/status.ts'
import {
  CellStatesToolAnswer,
  ContractToolAnswer,
  PermissionsToolAnswer,
  ProvenanceToolAnswer,
  StatusToolAnswer,
} from '../../wire/tool-answers.ts'
import {
  CellStatesInput,
  ContractInput,
  ExplainCellInput,
  NoInput,
  ProvenanceInput,
  StatusInput,
  TOOL_LIMIT,
  TOOL_LIMIT_MAX,
} from '../../wire/tool-inputs.ts'
import { budgetText, withBudget } from './call-budget.ts'
import { defineTool, READS } from './tool.ts'
import { countText } from './count-text.ts'

export const getContractTool = defineTool({
  name: 'get_contract',
  title: 'Get the contract',
  description:
    'Returns the contract of the sheet (Open Data Contract Standard): its fields with types, meaning, constraints and ' +
    'permissions, and for derived fields how they are computed. Read it before anything else.',
  input: ContractInput,
  output: ContractToolAnswer,
  annotations: READS,
  async run({ fields = null }, { sheet }) {
    const whole = await readContract(sheet)
    const contract = fields === null ? whole : onlyFields(whole, await requireFields(sheet, fields))
    const names = propertiesOf(contract).map(({ name }) => String(name))
    return { structured: { contract }, text: `The fields are ${names.join(', ')}.` }
  },
})

type Members = Readonly<Record<string, unknown>>

/** A contract has one schema (D4). */
function propertiesOf(contract: Members): readonly Members[] {
  const [schema] = (contract['schema'] ?? []) as readonly { readonly properties?: readonly Members[] }[]
  return schema?.properties ?? []
}

function onlyFields(contract: Members, fields: readonly string[]): Record<string, unknown> {
  const [schema] = contract['schema'] as readonly Members[]
  const properties = propertiesOf(contract).filter(({ name }) => fields.includes(String(name)))
  return { ...contract, schema: [{ ...schema, properties }] }
}

export const getPermissionsTool = defineTool({
  name: 'get_permissions',
  title: 'Get permissions',
  description:
    'Returns the actor of your writes, the fields that it may write, whether it may delete, the mode of your writes, and ' +
    'the budget for runs.',
  input: NoInput,
  output: PermissionsToolAnswer,
  annotations: READS,
  async run(_input, { sheet, actor, scope: { mode, allowDefinition }, budget }) {
    const { actor: name, write, delete: mayDelete } = await readPermissions(sheet, actor)
    const none = mode === 'read-only'
    return {
      structured: {
        actor: name,
        write: none ? [] : [...write],
        delete: mayDelete && !none,
        mode,
        ...(allowDefinition && { definition: true as const }),
        ...withBudget(budget),
      },
      text: `You write as ${JSON.stringify(name)}. ${MODES[mode]}${allowDefinition ? ' You may change the definition.' : ''} ${budgetText(budget.answer)}`.trimEnd(),
    }
  },
})

const MODES = {
  write: 'Writes take effect at once.',
  'read-only': 'This server only reads.',
  propose: 'Writes become proposals, which a person accepts or rejects.',
} as const

export const listDerivationsTool = defineTool({
  name: 'list_derivations',
  title: 'List derivations',
  description:
    'Lists the derivation files: the fields that each computes, their inputs, and the hosts that it calls; and the models and ' +
    'secrets that further ones can name.',
  input: NoInput,
  output: DerivationListAnswer,
  annotations: READS,
  async run(_input, { sheet }) {
    const answer = toDerivationListAnswer(await readDerivations(sheet), await readChoices(sheet))
    const files = answer.derivations.map(({ file, targets }) => `${file} computes ${targets.join(', ')}`)
    const missing = answer.secrets.filter(({ is_set: isSet }) => !isSet).map(({ name }) => name)
    const rest = missing.length === 0 ? '' : ` The server lacks ${missing.join(', ')}.`
    return {
      structured: answer,
      text: `${files.length === 0 ? 'This sheet has no derivations' : files.join('; ')}.${rest}`,
    }
  },
})

export const getStatusTool = defineTool({
  name: 'get_status',
  title: 'Get the status',
  description:
    'Counts the cells of each derived field that are fresh, stale, missing, failed and overridden (written by hand), and ' +
    'those blocked by an input; returns the last error.',
  input: StatusInput,
  output: StatusToolAnswer,
  annotations: READS,
  async run({ targets = null }, { sheet, budget }) {
    const status = toStatusAnswer(await readStatus(sheet, targets))
    const lines = Object.entries(status).map(
      ([target, { fresh, stale, missing, failed, overridden, blocked }]) =>
        `${target}: ${fresh} fresh, ${stale} stale, ${missing} missing, ${failed} failed, ${overridden} overridden${blocked === 0 ? '' : `; ${blocked} blocked by an input`}.`,
    )
    if (lines.length === 0) lines.push('This sheet has no derived fields.')
    lines.push(...sheet.warnings().map((warning) => `Warning: ${warning}.`))
    return { structured: { targets: status, ...withBudget(budget) }, text: lines.join('\n') }
  },
})

export const getCellStatesTool = defineTool({
  name: 'get_cell_states',
  title: 'Get cell states',
  description:
    'Returns the state of each derived cell of some records: fresh, stale, missing, failed, overridden or blocked.',
  input: CellStatesInput,
  output: CellStatesToolAnswer,
  annotations: READS,
  async run({ ids, targets = null }, { sheet }) {
    const cells = Object.fromEntries(await readCellStates(sheet, { ids, targets }))
    const found = Object.keys(cells).length
    return { structured: { cells }, text: `${found} of ${new Set(ids).size} records.` }
  },
})

export const explainCellTool = defineTool({
  name: 'explain_cell',
  title: 'Explain a derived cell',
  description:
    'Explains the state of a derived cell: the changes since it was computed, the input that blocks it, its failure, and the ' +
    'provenance entry of its value. For other fields use get_provenance.',
  input: ExplainCellInput,
  output: CellExplanationAnswer,
  annotations: READS,
  async run({ record_id: recordId, target }, { sheet }) {
    const explanation = toCellExplanationAnswer(await explainCell(sheet, target, recordId))
    const { state, blocked_by: blockedBy, blocked_reason: reason, waits_for: waitsFor } = explanation
    const { failure, reasons } = explanation
    const why = [
      blockedBy === null || reason === null
        ? []
        : [`it is blocked by ${blockedBy}, which ${BLOCKED[reason]}`],
      waitsFor.length === 0 ? [] : [`${waitsFor.join(', ')} must be computed first`],
      failure === null
        ? []
        : [`its last try failed: ${[failure.error, failure.response_body ?? []].flat().join(': ')}`],
      failure?.retry_at === undefined ? [] : [`runs ${retryText(failure.retry_at)} (retry_failed_after)`],
      reasons.map((change) =>
        change.part === 'input'
          ? `${change.field} changed`
          : `the ${change.part === 'member' ? change.name : change.part} changed`,
      ),
    ].flat()
    return {
      structured: explanation,
      text: `The cell is ${state}${why.length === 0 ? '' : `: ${why.join('; ')}`}.`,
    }
  },
})

function retryText(at: string | null): string {
  return at === null ? 'do not try it again' : `try it again from ${at} on`
}

const BLOCKED = {
  input_failed: 'failed',
  input_empty: 'is empty',
  input_blocked: 'is blocked itself',
} as const

export const getProvenanceTool = defineTool({
  name: 'get_provenance',
  title: 'Get provenance',
  description:
    'Returns the origin of the value of a cell: its author or the call that computed it, the time, and the value before. With ' +
    'history its earlier entries too, newest first.',
  input: ProvenanceInput,
  output: ProvenanceToolAnswer,
  annotations: READS,
  async run({ record_id: recordId, field, history = false, limit = TOOL_LIMIT }, { sheet }) {
    const cell = { recordId, field }
    const { entries: found, hasMore } = history
      ? await readLatestHistory(sheet, cell, limit)
      : { entries: [(await readProvenance(sheet, cell)) ?? []].flat(), hasMore: false }
    const entries = found as unknown as ProvenanceEntryAnswer[]
    const count = countText(entries.length, 'entry', 'entries')
    const text =
      entries.length === 0
        ? 'This cell has no provenance entry yet.'
        : `${count}.${hasMore ? earlier(limit) : ''}`
    return { structured: { entries, has_more: hasMore }, text }
  },
})

function earlier(limit: number): string {
  return limit < TOOL_LIMIT_MAX
    ? ' There are earlier ones: raise limit to see them.'
    : ' There are earlier ones.'
}
