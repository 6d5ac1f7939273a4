import type { GroupsView } from '../state/view-state.ts'

/** Returns what a chart shows: `Records by Region`, `Sum of Area by Region and Landlocked`. */
export function chartName({ by, split, total }: GroupsView, titleOf: (field: string) => string): string {
  const fields = split === null ? titleOf(by) : `${titleOf(by)} and ${titleOf(split)}`
  return `${total === null ? 'Records' : `Sum of ${titleOf(total)}`} by ${fields}`
}
