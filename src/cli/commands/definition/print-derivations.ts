import { readChoices } from '../../../sheet/schema/read-choices.ts'
import { readDerivation, readDerivations } from '../../../sheet/schema/read-derivations.ts'
import {
  toDerivationListAnswer,
  toDerivationsAnswer,
  type DerivationAnswer,
  type DerivationListAnswer,
} from '../../../wire/definition/derivations.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { tableOf, type Column } from '../../terminal/table.ts'
import type { Screen } from '../../terminal/terminal.ts'
import { visibleLines, visibleText } from '../../terminal/visible-text.ts'

/** Prints the derivations, and the models and secrets that further ones can name; the JSON is that of `GET /api/derivations`. Throws as {@link readDerivations} does. */
export async function printDerivations({ sheet, out }: CommandContext): Promise<void> {
  const answer = toDerivationListAnswer(await readDerivations(sheet), await readChoices(sheet))
  const { derivations, models, secrets } = answer
  await out.print(answer, (screen) =>
    [
      derivations.length === 0
        ? screen.paint('dim', 'This sheet has no derivations.')
        : tableOf(columnsFor(derivations), derivations, screen),
      ...(models.length > 0 ? [`models: ${visibleText(models.join(', '))}`] : []),
      ...(secrets.length > 0
        ? [`secrets: ${secrets.map((secret) => secretText(secret, screen)).join(', ')}`]
        : []),
    ].join('\n'),
  )
}

function secretText(
  { name, is_set: isSet }: DerivationListAnswer['secrets'][number],
  screen: Screen,
): string {
  return isSet ? name : `${name} ${screen.paint('yellow', '(not set here)')}`
}

/** Prints one derivation file; its JSON is an item of `GET /api/derivations`. Throws as {@link readDerivation} does. */
export async function printDerivation({ sheet, out }: CommandContext, file: string): Promise<void> {
  const answer = toDerivationsAnswer([await readDerivation(sheet, file)])
  const [derivation] = answer.derivations
  await out.print(derivation, () => visibleLines(derivation?.text.replace(/\n$/, '') ?? ''))
}

const COLUMNS: readonly Column<DerivationAnswer>[] = [
  { header: 'file', value: ({ file }) => file },
  { header: 'kind', value: ({ kind }) => kind },
  { header: 'targets', value: ({ targets }) => targets.join(', ') },
  { header: 'inputs', value: ({ inputs }) => inputs.join(', ') },
  { header: 'hosts', value: ({ hosts }) => hosts.join(', ') },
  {
    header: 'resources',
    value: ({ resources = [] }) => resources.map(({ type, name }) => `${type} ${name}`).join(', '),
  },
]

/** Leaves out the resources beside hosts where no derivation has any. */
function columnsFor(derivations: readonly DerivationAnswer[]): readonly Column<DerivationAnswer>[] {
  const haveOthers = derivations.some(({ resources }) => resources !== undefined)
  return COLUMNS.filter(({ header }) => header !== 'resources' || haveOthers)
}
