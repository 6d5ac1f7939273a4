import type { DefinitionChangeAnswer } from '../../../src/wire/definition/change.ts'
import type { ContractChangeAnswer } from '../../../src/wire/definition/contract-changes.ts'
import { readersMessages } from '../../../src/wire/definition/readers-message.ts'
import { countOf, formatCount } from '../ui/format.ts'

type FieldEffect = DefinitionChangeAnswer['fields'][number]

/** The members of the effect of a change that its sentences need; a change of a derivation alone has no indexes and breaks no readers. */
type Effect = Pick<DefinitionChangeAnswer, 'fields' | 'files'> &
  Partial<Pick<ContractChangeAnswer, 'indexes' | 'breaks'>>

/**
 * The sentences that say what a change does to the values of fields, to indexes and readers, and to files besides the contract and
 * `editedFile`; names are in backquotes.
 */
export function planText(
  { fields, files, indexes = [], breaks = [] }: Effect,
  editedFile: string | null = null,
): readonly string[] {
  const derivations = files
    .filter(({ path, before, after }) => path !== 'contract.yaml' && before !== null && after !== null)
    .filter(({ path }) => path !== `derivations/${editedFile}`)
    .map(({ path }) => `\`${path.replace('derivations/', '')}\``)
  return [
    ...fields.flatMap(fieldText),
    ...(derivations.length === 0 ? [] : [`The change also edits ${derivations.join(', ')}.`]),
    ...readersMessages({ indexes, breaks }, (field) => `\`${field}\``).map(
      (message) => `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
    ),
  ]
}

/** The number of values that a change would lose, by field. */
export function lostValues({
  fields,
}: Pick<DefinitionChangeAnswer, 'fields'>): Readonly<Record<string, number>> {
  return Object.fromEntries(fields.filter(({ lost }) => lost > 0).map(({ field, lost }) => [field, lost]))
}

function fieldText({ field, change, before, kept, converted, lost }: FieldEffect): readonly string[] {
  switch (change) {
    case 'added':
      return [`\`${field}\` is added.`]
    case 'renamed':
      return [`\`${before}\` becomes \`${field}\`. ${keptText(kept)}`]
    case 'removed':
      return [
        lost === 0
          ? `\`${field}\` is removed. It has no values.`
          : `\`${field}\` is removed, with ${countOf(lost, 'value')}. Undo brings ${lost === 1 ? 'it' : 'them'} back.`,
      ]
    case 'restored':
      return [`\`${field}\` is restored. ${keptText(kept)}`]
    default:
      return [
        `${countOf(converted, 'value')} of \`${field}\` ${converted === 1 ? 'is' : 'are'} converted.`,
        ...(kept === 0 ? [] : [`${countOf(kept, 'value')} ${kept === 1 ? 'stays' : 'stay'} the same.`]),
        ...(lost === 0 ? [] : [`${countOf(lost, 'value')} ${lost === 1 ? 'does' : 'do'} not fit.`]),
      ]
  }
}

function keptText(kept: number): string {
  return kept === 0
    ? 'It has no values.'
    : `${formatCount(kept)} ${kept === 1 ? 'value is' : 'values are'} kept, with ${kept === 1 ? 'its' : 'their'} history.`
}
