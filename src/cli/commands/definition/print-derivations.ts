import { readDerivation, readDerivations } from '../../../sheet/schema/read-derivations.ts'
import { toDerivationsAnswer, type DerivationAnswer } from '../../../wire/definition/derivations.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { tableOf, type Column } from '../../terminal/table.ts'
import { visibleLines } from '../../terminal/visible-text.ts'

/** Prints the derivations; their JSON is that of `GET /api/derivations`, without models and secrets. Throws as {@link readDerivations} does. */
export async function printDerivations({ sheet, out }: CommandContext): Promise<void> {
  const answer = toDerivationsAnswer(await readDerivations(sheet))
  await out.print(answer, (screen) =>
    answer.derivations.length === 0
      ? screen.paint('dim', 'This sheet has no derivations.')
      : tableOf(columnsFor(answer.derivations), answer.derivations, screen),
  )
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
