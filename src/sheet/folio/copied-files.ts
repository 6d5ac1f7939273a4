import type { DifferenceReport } from '../../files/folio/difference-report.ts'
import { KEPT_ENDING } from './adopt-derivations.ts'
import { NOT_COPIED, type FolioSource } from './folio-source.ts'

/** A file of a folio sheet that is copied. */
export interface CopiedFile {
  readonly from: string
  readonly to: string
}

/** Files that have a meaning in a sheet of Colophon, whatever they are in folio. */
const OWN = /^(?:transport\.yaml|models\.yaml|colophon\.json|folio-set-aside\.jsonl|sheet\.db.*)$/i

/** The effects of the folders and files that folio knows. */
const KNOWN: ReadonlyMap<string, string> = new Map([
  ['scripts', 'derivations can run the scripts; folio runs them by name, too, and installs requirements.txt'],
  ['prompts', 'derivations can refer to them'],
  ['skills', 'folio serves these prompts to agents; here they are files'],
  ['README.md', 'its frontmatter has a meaning in folio only'],
  [
    'datapackage.json',
    'it describes the folio sheet; make a new one with colophon export --format datapackage',
  ],
])

/** Lists the files to copy unchanged, and reports all others. */
export function copiesOf(
  source: FolioSource,
  report: DifferenceReport,
): { readonly copied: readonly CopiedFile[] } {
  const { files, left } = source.others()
  const copied: CopiedFile[] = []
  for (const { path, reason } of left)
    report.add('cannot', { file: path }, `the file is not copied: ${reason}`)
  for (const path of files) {
    if (!source.canRead(path)) {
      report.add('cannot', { file: path }, NOT_COPIED)
      continue
    }
    const isMeant = OWN.test(path) || path.endsWith(KEPT_ENDING)
    const to = isMeant || path.startsWith('derivations/') ? `${path}${KEPT_ENDING}` : path
    if (isMeant)
      report.add(
        'adapted',
        { file: path },
        `the file is called ${to}: its name has a meaning in a sheet here`,
      )
    copied.push({ from: path, to })
  }
  return { copied }
}

/** Reports the files that were copied, by folder. */
export function reportCopies(copied: readonly CopiedFile[], report: DifferenceReport): void {
  const groups = new Map<string, number>()
  for (const { from } of copied) {
    const [top = from] = from.split('/')
    groups.set(top, (groups.get(top) ?? 0) + 1)
  }
  for (const [name, count] of groups) {
    const what = KNOWN.get(name)
    const many = count === 1 ? 'copied' : `${count} files are copied`
    report.add('kept', { file: name }, what === undefined ? many : `${many}: ${what}`)
  }
  if (copied.length > 0) {
    report.add(
      'kept',
      null,
      'files that no derivation reads are in the directory; archives and stores of PostgreSQL do not have them',
    )
  }
}
