import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { ValidationError } from '../../errors/service-error.ts'
import { isFileFormat, FILE_FORMATS, type FileFormat } from '../../sheet/transfer/export-records.ts'
import {
  importRecords,
  inputFormatOf,
  spool,
  type FileSource,
  type ImportResult,
} from '../../sheet/transfer/import-records.ts'
import { readColumns } from '../../sheet/transfer/read-columns.ts'
import type { ReadFileOptions } from '../../sheet/transfer/read-file-options.ts'
import {
  FileColumnsAnswer,
  FileColumnsQuery,
  ImportAnswer,
  ImportFileQuery,
  toFileColumnsAnswer,
  toImportAnswer,
} from '../../wire/records/import.ts'
import { wholeNumber } from '../../wire/schema/page-parameters.ts'
import { whileConnected } from '../middleware/abort-on-disconnect.ts'
import { acceptFileBodies } from '../middleware/file-body.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'
import { runPath } from './runs.ts'

const COLUMNS: Operation = {
  id: 'readFileColumns',
  tag: 'Files',
  summary: 'Read the columns of a file',
  description:
    'The body is the file. Returns its columns, and the fields that they are by their names. Writes nothing.',
  bodyTypes: ['application/octet-stream'],
}

const IMPORT: Operation = {
  id: 'importFile',
  tag: 'Files',
  summary: 'Import the records of a file',
  description:
    'The body is the file. All records are validated first; if a value does not fit, nothing is written. What is written is a run, which can be watched, cancelled and reverted. With `dry_run` nothing is written, and the response has what would change, and the values that do not fit.',
  headers: ['X-Svc-Actor'],
  bodyTypes: ['application/octet-stream'],
  answers: { 200: { headers: ['Location'] } },
}

/** The most faults in the message of an import that is refused. */
const LISTED_FAULTS = 10

/** `POST /api/import` and `POST /api/import/columns`. */
export function importRoutes(app: Api, { sheet, actors, write }: RouteContext): void {
  acceptFileBodies(app)

  const columnsSchema = { querystring: FileColumnsQuery, response: { 200: FileColumnsAnswer } }
  app.post(
    '/api/import/columns',
    { ...write, schema: columnsSchema, config: { operation: COLUMNS } },
    (request) => {
      const format = formatOf(request.query)
      const read = readOptionsOf(request.query)
      return withFile(request, request.query.name, async (file) =>
        toFileColumnsAnswer(format, await readColumns(sheet, file, { format, read })),
      )
    },
  )

  const importSchema = { querystring: ImportFileQuery, response: { 200: ImportAnswer } }
  app.post(
    '/api/import',
    { ...write, schema: importSchema, config: { operation: IMPORT } },
    async (request, reply) => {
      const { query } = request
      const actor = actors.ofHeader(request)
      const dryRun = query.dry_run === 'true'
      const guesses: string[] = []
      const options = {
        format: formatOf(query),
        actor,
        dryRun,
        columns: columnsOf(query.columns),
        key: query.numbered === 'true' ? (false as const) : null,
        keepEmpty: query.keep_empty === 'true',
        read: readOptionsOf(query),
        onGuess: (guess: string) => void guesses.push(guess),
      }
      const result = await withFile(request, query.name, (file) =>
        dryRun
          ? whileConnected(request, (signal) => importRecords(sheet, file, { ...options, signal }))
          : importRecords(sheet, file, options),
      )
      if (!dryRun) refuseFaults(result)
      if (result.run !== null) reply.header('location', runPath(result.run))
      return toImportAnswer(result, guesses)
    },
  )
}

/** Does work with the file of a request, which is removed afterwards. Throws ValidationError for one without a body. */
async function withFile<T>(
  { body }: FastifyRequest,
  name: string,
  work: (file: FileSource) => Promise<T>,
): Promise<T> {
  if (!(body instanceof Readable)) {
    throw new ValidationError('the body is empty; send the file', 'unreadable_file')
  }
  const file = await spool(body, nameOf(name))
  try {
    return await work(file)
  } finally {
    await file.remove()
  }
}

const NAME_LENGTH = 200

/** Returns the file name without directories. Throws ValidationError for one that messages cannot show. */
function nameOf(path: string): string {
  const name = path.split(/[/\\]/).at(-1) ?? ''
  if (name !== '' && name.length <= NAME_LENGTH && name.isWellFormed() && !/\p{Cc}/u.test(name)) return name
  throw new ValidationError(
    `name is ${JSON.stringify(path.slice(0, 40))}; it must be a file name of at most ${NAME_LENGTH} characters`,
  )
}

function formatOf({ name, format }: FileColumnsQuery): FileFormat {
  if (format !== undefined && isFileFormat(format)) return format
  const found = format === undefined ? inputFormatOf(name) : null
  if (found !== null) return found
  const what =
    format === undefined
      ? `the format of ${JSON.stringify(name.slice(0, 40))} cannot be told from its name`
      : `unknown format ${JSON.stringify(format.slice(0, 40))}`
  throw new ValidationError(`${what}; set format to one of ${FILE_FORMATS.join(', ')}`)
}

function readOptionsOf(query: FileColumnsQuery): ReadFileOptions {
  const { encoding, delimiter, skip, worksheet, records_at: recordsAt, date_order: dateOrder } = query
  return {
    encoding: encoding ?? null,
    delimiter: delimiter ?? null,
    skip: wholeNumber(skip),
    sheet: worksheet ?? null,
    recordsAt: recordsAt ?? null,
    dateOrder: dateOrder === 'dmy' || dateOrder === 'mdy' ? dateOrder : null,
  }
}

function columnsOf(text: string | undefined): ReadonlyMap<string, string | null> {
  if (text === undefined || text === '') return new Map()
  const value = parsed(text)
  const entries =
    typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : null
  if (entries === null || !entries.every(isColumn)) {
    throw new ValidationError(
      'columns must be a JSON object with a field, or null, by the name of each column, such as {"order no": "id"}',
    )
  }
  return new Map(entries)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isColumn(entry: [string, unknown]): entry is [string, string | null] {
  return entry[1] === null || typeof entry[1] === 'string'
}

function refuseFaults({ faults, faultCount }: ImportResult): void {
  if (faultCount === 0) return
  const listed = faults
    .slice(0, LISTED_FAULTS)
    .map(({ place, field, message }) => `${place}, field ${JSON.stringify(field)}: ${message}`)
  const more = faultCount - listed.length
  throw new ValidationError(
    `nothing was imported: ${listed.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
    'invalid_records',
  )
}
