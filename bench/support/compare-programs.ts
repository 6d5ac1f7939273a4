import type { DirectoryBench, ProgramsRow } from './case.ts'
import { median } from './load.ts'
import { measureOnce, type Measure } from './measures.ts'
import type { Prepared, Program } from './program.ts'

export interface Compared {
  /** Colophon is the first. */
  readonly programs: readonly Program[]
  readonly records: number
  readonly measures: readonly Measure[]
  /** Returns {@link ProgramsRow.reach} of a measure; absent where no measure has a target. */
  readonly reach?: (measure: Measure) => number | null
}

/** Measures programs with the same records, in turn: each is started once in a round. The figures are the medians of the rounds. */
export async function comparePrograms(
  { sheets, rounds, seconds }: DirectoryBench,
  { programs, records, measures, reach }: Compared,
): Promise<ProgramsRow[]> {
  const prepared: Prepared[] = []
  for (const program of programs) prepared.push(await program.prepare(sheets, records))
  const figures: (number | null)[][][] = programs.map(() => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, program] of prepared.entries()) {
      figures[index]!.push(await measureOnce(program, measures, { records, seconds }))
    }
  }
  return measures.map((measure, place) => ({
    kind: 'programs',
    what: `${measure.what}, ${records.toLocaleString('en')} records`,
    unit: measure.unit,
    better: measure.better,
    figures: programs.map(({ name }, index) => ({
      program: name,
      value: middle(figures[index]!.map((ofRound) => ofRound[place]!)),
    })),
    reach: reach?.(measure) ?? null,
  }))
}

/** Returns the median; null if the program cannot do it. */
export function middle(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null)
  return numbers.length === 0 ? null : median(numbers)
}

/** Measures a program alone; returns the medians of the rounds. */
export async function measureAlone(
  bench: DirectoryBench,
  program: Program,
  { records, measures }: Pick<Compared, 'records' | 'measures'>,
): Promise<number[]> {
  const rows = await comparePrograms(bench, { programs: [program], records, measures })
  return rows.map(({ figures }) => figures[0]?.value ?? Number.NaN)
}
