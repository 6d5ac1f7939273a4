import type { ContractChangeAnswer } from './contract-changes.ts'

type Effect = Pick<ContractChangeAnswer, 'indexes' | 'breaks'>

/** Returns what a change of the contract means for indexes and for those who read fields, in sentences without a period; `nameOf` writes a field. */
export function readersMessages(
  { indexes, breaks }: Effect,
  nameOf: (field: string) => string,
): readonly string[] {
  const broken = breaks.map(nameOf)
  return [
    ...indexes.flatMap(({ field, change }) => {
      const does = INDEX_CHANGES[change]
      return does === undefined ? [] : [`${nameOf(field)} ${does}`]
    }),
    ...(broken.length === 0 ? [] : [`programs and queries that read ${listed(broken)} must change too`]),
  ]
}

const INDEX_CHANGES: Readonly<Record<string, string>> = {
  created: 'gets an index',
  dropped: 'loses its index',
  rebuilt: 'gets its index built anew',
  renamed: 'keeps its index',
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
