import type { DefinitionChangeAnswer } from '../../wire/definition/change.ts'
import { recomputingMessage } from '../../wire/definition/recomputing-message.ts'
import { countText } from './count-text.ts'

/** Describes the effect of a change of the definition, or of a dry run, in sentences. */
export function definitionText(answer: DefinitionChangeAnswer, proposed: string | null): string {
  const { files, fields, targets, conflicts, dry_run: isPlan, change } = answer
  if (files.length === 0) return 'Nothing to change: the files have these texts already.'
  if (conflicts.length > 0) return `This change would be refused: ${conflicts.join('; ')}.`
  const paths = files.map(({ path }) => path).join(', ')
  const due = targets.reduce((sum, { before, after }) => sum + pendingIn(after) - pendingIn(before), 0)
  const recomputing = recomputingMessage(answer.recomputing, {
    money: (dollars) => `$${dollars}`,
    calls: (count) => countText(count, 'call'),
  })
  return [
    proposed !== null
      ? `Proposal ${proposed} to change ${paths} waits for a person; nothing has changed yet. If it is accepted:`
      : isPlan
        ? `This change of ${paths} would be made; nothing has changed yet.`
        : `Change ${change} of ${paths} was made; revert_definition_change takes it back.`,
    ...fields.flatMap(valuesText),
    ...(due > 0 ? [`${countText(due, 'cell')} more to compute.`] : []),
    ...(recomputing === '' ? [] : [recomputing]),
  ].join(' ')
}

function pendingIn(counts: DefinitionChangeAnswer['targets'][number]['after']): number {
  return counts === null ? 0 : counts.stale + counts.missing
}

function valuesText({
  field,
  change,
  kept,
  converted,
  lost,
}: DefinitionChangeAnswer['fields'][number]): string[] {
  const parts = [
    ...(kept > 0 ? [`${countText(kept, 'value')} kept`] : []),
    ...(converted > 0 ? [`${countText(converted, 'value')} converted`] : []),
    ...(lost > 0
      ? [`${countText(lost, 'value')} lost${change === 'removed' ? ', kept in the log' : ''}`]
      : []),
  ]
  return [`${field} is ${change}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}.`]
}
