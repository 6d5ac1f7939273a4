import { buffer } from 'node:stream/consumers'
import { ZipFile } from 'yazl'

/** Parts of a workbook, by name; missing ones are the minimal ones. */
export type WorkbookParts = Readonly<Record<string, string>>

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/package/2006/relationships'

const LEAST: WorkbookParts = {
  '_rels/.rels': `<Relationships xmlns="${RELATIONSHIPS}"><Relationship Id="r1" Type="${DOCUMENT}/officeDocument" Target="/xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': workbookXml('<sheet name="One" sheetId="1" r:id="r1"/>'),
  'xl/_rels/workbook.xml.rels':
    `<Relationships xmlns="${RELATIONSHIPS}"><Relationship Id="r1" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="r2" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet2.xml"/>` +
    `<Relationship Id="r3" Type="${DOCUMENT}/sharedStrings" Target="sharedStrings.xml"/>` +
    `<Relationship Id="r4" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`,
}

/** Returns `xl/workbook.xml` with these sheets. */
export function workbookXml(sheets: string, properties = ''): string {
  return `<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}">${properties}<sheets>${sheets}</sheets></workbook>`
}

/** Returns a worksheet with these rows. */
export function worksheetXml(rows: string): string {
  return `<worksheet xmlns="${MAIN}"><dimension ref="A1"/><sheetData>${rows}</sheetData></worksheet>`
}

/** Returns the bytes of a workbook as another program could have written it. */
export function makeWorkbook(parts: WorkbookParts): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, xml] of Object.entries({ ...LEAST, ...parts })) zip.addBuffer(Buffer.from(xml), name)
  zip.end()
  return buffer(zip.outputStream)
}
