import { posix } from 'node:path'
import { ValidationError } from '../../errors/service-error.ts'
import type { WorkbookArchive } from './workbook-archive.ts'
import { dateShapeOf, type DateShape } from './xlsx-dates.ts'
import { decodeText } from './xlsx-text.ts'

/** A worksheet of a workbook. */
export interface Worksheet {
  readonly name: string
  /** The part of the archive with its cells. */
  readonly part: string
  readonly visible: boolean
}

/** The data for reading worksheets. */
export interface Workbook {
  /** The worksheets in the order of their tabs. */
  readonly worksheets: readonly Worksheet[]
  readonly texts: readonly string[]
  /** The kind of date of each cell style, by the number of the style. */
  readonly shapes: readonly (DateShape | null)[]
  readonly from1904: boolean
}

type Attributes = Readonly<Record<string, string>>

/** Reads the worksheets and styles of a workbook. Throws ValidationError for an invalid workbook. */
export async function readWorkbook(archive: WorkbookArchive, name: string): Promise<Workbook> {
  const root = await readRelationships(archive, '')
  const part = root.find(({ type }) => type.endsWith('/officeDocument'))?.target ?? 'xl/workbook.xml'
  if (!archive.has(part))
    throw new ValidationError(`${name} is no workbook: it has no ${part}`, 'unreadable_file')
  const relationships = await readRelationships(archive, part)
  const targetOf = (kind: string): string | undefined =>
    relationships.find(({ type }) => type.endsWith(`/${kind}`))?.target
  const { sheets, from1904 } = await readSheets(archive, part)
  const worksheets = sheets.flatMap(({ id, name: sheet, visible }): Worksheet[] => {
    const target = relationships.find((each) => each.id === id && each.type.endsWith('/worksheet'))?.target
    return target === undefined || !archive.has(target) ? [] : [{ name: sheet, part: target, visible }]
  })
  if (worksheets.length === 0)
    throw new ValidationError(`${name} has no worksheet that could be read`, 'unreadable_file')
  return {
    worksheets,
    texts: await readTexts(archive, targetOf('sharedStrings')),
    shapes: await readShapes(archive, targetOf('styles')),
    from1904,
  }
}

interface Relationship {
  readonly id: string
  readonly type: string
  /** The part that the relationship refers to. */
  readonly target: string
}

async function readRelationships(archive: WorkbookArchive, part: string): Promise<Relationship[]> {
  const found: Relationship[] = []
  const directory = posix.dirname(part)
  await archive.read(posix.join(directory, '_rels', `${posix.basename(part)}.rels`), {
    open: (name, { Id: id = '', Type: type = '', Target: target = '' }) => {
      if (name === 'Relationship')
        found.push({ id, type, target: posix.resolve('/', directory, target).slice(1) })
    },
    close: () => undefined,
    text: () => undefined,
  })
  return found
}

interface SheetEntry {
  readonly name: string
  readonly id: string
  readonly visible: boolean
}

async function readSheets(
  archive: WorkbookArchive,
  part: string,
): Promise<{ readonly sheets: readonly SheetEntry[]; readonly from1904: boolean }> {
  const sheets: SheetEntry[] = []
  let from1904 = false
  await archive.read(part, {
    open: (name, attributes) => {
      if (name === 'sheet')
        sheets.push({
          name: attributes['name'] ?? '',
          id: relationId(attributes),
          visible: !isHidden(attributes),
        })
      if (name === 'workbookPr') from1904 = ['1', 'true'].includes(attributes['date1904'] ?? '')
    },
    close: () => undefined,
    text: () => undefined,
  })
  return { sheets, from1904 }
}

/** Returns the id of a relationship, with any prefix of its namespace. */
function relationId(attributes: Attributes): string {
  const [, id = ''] = Object.entries(attributes).find(([name]) => /(?:^|:)id$/.test(name)) ?? []
  return id
}

function isHidden({ state }: Attributes): boolean {
  return state === 'hidden' || state === 'veryHidden'
}

/** Reads the shared strings, which cells refer to by number. */
async function readTexts(archive: WorkbookArchive, part: string | undefined): Promise<readonly string[]> {
  const texts: string[] = []
  if (part === undefined) return texts
  const collector = new TextCollector()
  await archive.read(part, {
    open: (name) => collector.open(name),
    close: (name) => {
      collector.close(name)
      if (name === 'si') texts.push(collector.take())
    },
    text: (text) => collector.text(text),
  })
  return texts
}

/** Joins the runs of a rich text, without phonetic ones. */
export class TextCollector {
  #text = ''
  #inText = false
  #phonetic = false

  open(name: string): void {
    if (name === 'rPh') this.#phonetic = true
    this.#inText = name === 't' && !this.#phonetic
  }

  close(name: string): void {
    if (name === 'rPh') this.#phonetic = false
    this.#inText = false
  }

  text(text: string): void {
    if (this.#inText) this.#text += text
  }

  /** Returns the text so far and empties the collector. */
  take(): string {
    const text = decodeText(this.#text)
    this.#text = ''
    return text
  }
}

/** Reads the kind of date of each cell style. */
async function readShapes(
  archive: WorkbookArchive,
  part: string | undefined,
): Promise<readonly (DateShape | null)[]> {
  const shapes: (DateShape | null)[] = []
  if (part === undefined) return shapes
  const codes = new Map<number, string>()
  let inCells = false
  await archive.read(part, {
    open: (name, { numFmtId = '0', formatCode = '' }) => {
      const id = Number(numFmtId)
      if (name === 'numFmt') codes.set(id, formatCode)
      if (name === 'cellXfs') inCells = true
      if (name === 'xf' && inCells) shapes.push(dateShapeOf(id, codes.get(id)))
    },
    close: (name) => {
      if (name === 'cellXfs') inCells = false
    },
    text: () => undefined,
  })
  return shapes
}
