import type { JsonSchema, SheetSchemas } from '../../sheet/schema/read-record-schemas.ts'
import { CSRF_COOKIE } from '../../wire/service/csrf.ts'
import { DIALECT, inDialect, type SqlDialect } from '../../wire/schema/dialect.ts'
import type { OperationTag } from './operation.ts'
import { operationObject, sharedComponents } from './operation-object.ts'
import type { RouteOperation } from './operation-table.ts'
import { Components } from './schemas.ts'
import { sheetComponents } from './sheet-components.ts'
import { sheetExamples } from './sheet-examples.ts'

const TAGS: Readonly<Record<OperationTag, string>> = {
  Records: 'The records of the sheet.',
  Cells: 'The states of derived fields, as a whole and cell by cell.',
  Runs: 'Computing derived fields, and reverting changes.',
  Provenance: 'The origin of each value.',
  Proposals: 'Writes that wait until someone accepts them.',
  Files: 'Records in files.',
  Sheet: 'The contract, the derivations and the permissions of the sheet.',
  Events: 'Streams of server-sent events. Each `data:` line is JSON of the schema given.',
  Service: 'The service itself.',
}

const CONVENTIONS = `
Bodies and responses are JSON in UTF-8. An error is an error envelope, or problem details (RFC 9457) for \`Accept: application/problem+json\`.

Writes require a CSRF token: the header \`X-CSRF-Token\` with the value of the cookie \`svc_csrf\`, which every read sets.

SQL, in \`filter\` and \`POST /api/query\`, is that of ${DIALECT}; conditions, in \`where\`, are the same on every database.

Wherever there is \`GET\` there is \`HEAD\`. Answers to \`GET\` have an \`ETag\`; with \`If-None-Match\` an answer that is the same still is a \`304\`. Answers of a kilobyte and more are compressed for \`Accept-Encoding: gzip\` or \`br\`.`

/** The parts that an OpenAPI document is built from. */
export interface DocumentParts {
  readonly operations: readonly RouteOperation[]
  /** The schemas that the definition of the sheet determines. */
  readonly schemas: SheetSchemas
  /** The name of the sheet. */
  readonly name: string
  /** The SQL dialect of its engine. */
  readonly dialect: SqlDialect
}

/**
 * Builds the OpenAPI 3.1 document of the service over a sheet: the same schemas as the validation, and records as the contract defines
 * them.
 */
export function openApiDocument(parts: DocumentParts): JsonSchema {
  return inDialect(documentOf(parts), parts.dialect)
}

function documentOf({ operations, schemas, name }: DocumentParts): JsonSchema {
  const { records } = schemas
  const components = new Components(sheetComponents(schemas), sheetExamples(schemas))
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const route of inOrder(operations))
    (paths[route.path] ??= {})[route.method] = operationObject(route, components)
  const shared = sharedComponents(components, paths)
  const tags = new Set(operations.map(({ operation }) => operation.tag))
  return {
    openapi: '3.1.1',
    info: {
      title: `Colophon: ${name}`,
      version: '1',
      summary: 'A sheet whose every cell can say where it came from.',
      description: `${records?.purpose ?? ''}\n${CONVENTIONS}`.trim(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS)
      .filter(([tag]) => tags.has(tag as OperationTag))
      .map(([tag, description]) => ({ name: tag, description })),
    paths,
    components: {
      securitySchemes: {
        csrfToken: {
          type: 'apiKey',
          in: 'header',
          name: 'X-CSRF-Token',
          description: 'The value of the cookie; see `GET /api/csrf`.',
        },
        csrfCookie: {
          type: 'apiKey',
          in: 'cookie',
          name: CSRF_COOKIE,
          description: 'Set by every read.',
        },
      },
      ...shared,
      schemas: components.schemas,
    },
  }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Sorts by path, so that operations on one resource are adjacent. */
function inOrder(operations: readonly RouteOperation[]): readonly RouteOperation[] {
  const order = (a: RouteOperation, b: RouteOperation): number =>
    a.path === b.path ? METHODS.indexOf(a.method) - METHODS.indexOf(b.method) : a.path < b.path ? -1 : 1
  return operations.toSorted(order)
}
