import { Readable } from 'node:stream'
import { Type } from 'typebox'
import { SheetError } from '../../errors/service-error.ts'
import { exportRecords, FILE_FORMATS, isFileFormat } from '../../sheet/transfer/export-records.ts'
import { commaList } from '../../wire/schema/comma-list.ts'
import { ExportParams, ExportRecordsQuery } from '../../wire/records/export.ts'
import { RecordAnswer } from '../../wire/records/records.ts'
import { attachment } from '../response/content-disposition.ts'
import type { Operation } from '../openapi/operation.ts'
import type { Api, RouteContext } from './route-context.ts'

const BINARY = Type.String({ format: 'binary' })

const EXPORT: Operation = {
  id: 'exportRecords',
  tag: 'Files',
  summary: 'Export records as a file',
  description:
    'The file is streamed, without a length: if an error occurs while it is sent, the connection is closed early.',
  errors: [404],
  answers: {
    200: {
      description: 'The file.',
      headers: ['Content-Disposition'],
      content: {
        'text/csv': Type.String(),
        'application/json': Type.Array(RecordAnswer),
        'application/x-ndjson': RecordAnswer,
        'application/vnd.apache.parquet': BINARY,
        'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': BINARY,
      },
    },
  },
}

/** `GET /api/export/{format}`: any number of records as a file. */
export function exportRoutes(app: Api, { sheet, read, logger }: RouteContext): void {
  const schema = { params: ExportParams, querystring: ExportRecordsQuery }
  app.get(
    '/api/export/:format',
    { ...read, schema, config: { operation: EXPORT } },
    async (request, reply) => {
      const { format } = request.params
      if (!isFileFormat(format)) {
        throw new SheetError(
          `unknown export format ${JSON.stringify(format.slice(0, 40))}; known formats: ${FILE_FORMATS.join(', ')}`,
          'unknown_format',
        )
      }
      const { fields, filter = null, where = null, sort, raw } = request.query
      const file = await exportRecords(sheet, {
        format,
        fields: commaList(fields),
        filter,
        where,
        sort: commaList(sort),
        raw: raw === 'true',
      })
      const stream = Readable.from(file.bytes, { objectMode: false })
      // After the first byte an error can only be signalled by closing the connection.
      stream.on('error', (error: Error) => {
        if (reply.raw.headersSent) logger.error({ err: error, format }, 'an export failed')
      })
      return reply
        .header('content-type', file.contentType)
        .header('content-disposition', attachment(file.fileName))
        .send(stream)
    },
  )
}
