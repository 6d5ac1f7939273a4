import type { Static } from 'typebox'
import { ValidationError } from '../../errors/service-error.ts'
import type { DefinitionReport } from '../../sheet/definition/change/change-definition.ts'
import {
  keepValues,
  readDerivationFile,
  removeDerivationFile,
  writeDerivationFile,
} from '../../sheet/definition/change/derivation-file.ts'
import { previewDerivation, USUAL_SAMPLE } from '../../sheet/preview/preview-derivation.ts'
import { toDefinitionChangeAnswer } from '../../wire/definition/change.ts'
import { DerivationFileAnswer } from '../../wire/definition/derivations.ts'
import { toPreviewAnswer, type PreviewAnswer } from '../../wire/definition/preview.ts'
import { DefinitionToolAnswer, PreviewToolAnswer } from '../../wire/definition-tool-answers.ts'
import {
  DerivationInput,
  PreviewDerivationInput,
  RemoveDerivationInput,
  SetDerivationInput,
} from '../../wire/definition-tool-inputs.ts'
import type { AgentScope } from './agent-scope.ts'
import { budgetText, withBudget } from './call-budget.ts'
import { costText } from './cost-text.ts'
import { countText } from './count-text.ts'
import { definitionText } from './definition-text.ts'
import { CHANGES_DEFINITION } from './field-tools.ts'
import { defineTool, READS, type ToolResult } from './tool.ts'

export const getDerivationTool = defineTool({
  name: 'get_derivation',
  title: 'Get a derivation file',
  description: 'Returns the text of a derivation file, valid or not, and its version for if_version.',
  input: DerivationInput,
  output: DerivationFileAnswer,
  annotations: READS,
  async run({ file }, { sheet }) {
    const found = await readDerivationFile(sheet, file)
    return { structured: { ...found }, text: `${file} has version ${found.version}.` }
  },
})

export const previewDerivationTool = defineTool({
  name: 'preview_derivation',
  title: 'Preview a derivation',
  description:
    'Computes a derivation file, or a new text of one, for a few records and stores no cell. It makes calls, which can cost money ' +
    'and count in the budget; their results are cached for the run. Use it before set_derivation. Where changes are proposals, a ' +
    'new text must make no calls.',
  input: PreviewDerivationInput,
  output: PreviewToolAnswer,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  async run(input, { sheet, actor, scope, budget, signal }) {
    const { file, text = null, record_ids: recordIds = null, max_cost: maxCost = null } = input
    const { sample = USUAL_SAMPLE, seed = 0 } = input
    const turn = await budget.turn({ maxCalls: null, maxCost }, { patienceMs: sheet.lockTimeoutMs, signal })
    const spent = { calls: 0, totalCost: 0 }
    turn.spends(() => spent)
    try {
      const onSpent = ({ calls, totalCost }: typeof spent): void => {
        spent.calls += calls
        spent.totalCost += totalCost
      }
      const wanted = {
        file,
        text,
        contract: null,
        recordIds,
        sample,
        seed,
        actor,
        ...turn.bounds,
        onSpent,
        usesNothingNew: scope.mode === 'propose',
      }
      const answer = toPreviewAnswer(await previewDerivation(sheet, wanted, signal))
      return {
        structured: { ...answer, ...withBudget(budget) },
        text: `${previewText(answer)} ${budgetText(budget.answer)}`.trimEnd(),
      }
    } finally {
      turn.end()
    }
  },
})

function previewText({ records, calls, total_cost: cost, unpriced_calls: unpriced }: PreviewAnswer): string {
  if (records.length === 0) return 'The sheet has no records.'
  const outcomes = [...Map.groupBy(records, ({ outcome }) => outcome)].map(
    ([outcome, { length }]) => `${length} ${outcome === 'left' ? 'left because of a bound' : outcome}`,
  )
  const price = calls === 0 ? '' : `, ${costText(calls, { cost, unpriced })}`
  return `Of ${countText(records.length, 'record')}: ${outcomes.join(', ')}. ${countText(calls, 'call')}${price}; no cell was stored.`
}

export const setDerivationTool = defineTool({
  name: 'set_derivation',
  title: 'Write a derivation file',
  description:
    'Adds or replaces a derivation file, if the whole definition is valid with it. Fields that it computes must be in the ' +
    'contract. Values of an edited file become stale; materialize computes them. Set dry_run first.',
  input: SetDerivationInput,
  output: DefinitionToolAnswer,
  annotations: CHANGES_DEFINITION,
  async run({ file, text, keep_fresh: keepsFresh = false, ...given }, { sheet, actor, scope }) {
    if (keepsFresh && scope.mode === 'propose') {
      throw new ValidationError(
        'keep_fresh is not possible for a proposal; whoever accepts it decides about the values',
      )
    }
    const report = await writeDerivationFile(sheet, { file, text }, { ...optionsOf(given, scope), actor })
    const run = keepsFresh ? await keepValues(sheet, report, { file, actor }) : null
    // Its outcome is in the list of runs.
    run?.done.catch(() => undefined)
    return changed(report, { run_id: run?.id ?? null })
  },
})

export const removeDerivationTool = defineTool({
  name: 'remove_derivation',
  title: 'Remove a derivation file',
  description:
    'Removes a derivation file: its targets become ordinary fields, with their values. Set dry_run first.',
  input: RemoveDerivationInput,
  output: DefinitionToolAnswer,
  annotations: CHANGES_DEFINITION,
  async run({ file, ...given }, { sheet, actor, scope }) {
    return changed(await removeDerivationFile(sheet, file, { ...optionsOf(given, scope), actor }))
  },
})

/** Returns the result of a change of the definition, or of a proposed one. */
export function changed(
  report: DefinitionReport,
  beside: { readonly run_id?: string | null } = {},
): ToolResult<Static<typeof DefinitionToolAnswer>> {
  const answer = toDefinitionChangeAnswer(report)
  const { proposed } = report
  return {
    structured: { ...answer, ...beside, ...(proposed !== null && { proposal: proposed }) },
    text: definitionText(answer, proposed),
  }
}

interface Given {
  readonly note?: string
  readonly if_version?: string
  readonly dry_run?: boolean
}

interface Options {
  readonly note: string | null
  readonly dryRun: boolean
  readonly ifMatch: readonly string[] | null
  readonly proposes: boolean
}

function optionsOf(
  { note, if_version: version, dry_run: dryRun = false }: Given,
  { mode }: AgentScope,
): Options {
  const ifMatch = version === undefined ? null : [version]
  return { note: note ?? null, dryRun, ifMatch, proposes: mode === 'propose' }
}
