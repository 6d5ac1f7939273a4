import type { CallToolResult } from '@modelcontextprotocol/server'
import {
  PreconditionFailedError,
  ServiceError,
  ValidationError,
  type ErrorType,
} from '../../errors/service-error.ts'
import { DIALECT, inDialect, type SqlDialect } from '../../wire/schema/dialect.ts'
import type { BudgetAnswer } from '../../wire/tool-answers.ts'
import { budgetText } from './call-budget.ts'

/** What an agent can do about an error, by its type; what the message says by itself is not said again. */
const NEXT: Readonly<Partial<Record<ErrorType, string>>> = {
  ContractError:
    'A file of the sheet is broken, and a person has to mend it; the message says where. No tool can.',
  SheetError: 'Look up what there is: list_records and query tell ids, list_runs tells runs.',
  RecordsError: 'The store of the sheet is at fault; tell the person who runs this server.',
  QueryError: `The dialect is ${DIALECT}, the one table is records, and get_contract tells its columns. One SELECT; values go into params.`,
  PermissionDeniedError: 'get_permissions tells what you may write. For the rest ask a person who may.',
  LockTimeoutError: 'list_runs tells which run is under way. Try again when it has ended.',
}

const VERSION_MOVED = 'get_record reads it again, and tells the version for if_version.'

/** Routes that messages name, in words of tools. */
const ROUTES: readonly (readonly [RegExp, string])[] = [
  [/POST \/api\/runs\/([^/\s]+)\/cancel/g, 'cancel_run'],
  [/GET \/api\/runs\/[^/\s]+/g, 'get_run'],
  [/GET \/api\/runs\b/g, 'list_runs'],
  [/GET \/api\/provenance/g, 'get_provenance'],
  [/POST \/api\/records/g, 'upsert_records'],
  [/ids is required: (.*?), comma-separated/g, 'ids is required: $1'],
]

/** What an error comes to for a client; its text says what went wrong, what to do next, and what of a budget is spent. */
export function toolError(
  error: unknown,
  budget: BudgetAnswer | null,
  { dialect, log }: { readonly dialect: SqlDialect; readonly log: (error: unknown) => void },
): CallToolResult {
  const known = knownError(error)
  if (known === null) {
    log(error)
    return failed('ServiceError: internal error. It is a fault of the server; tell the person who runs it.')
  }
  const parts = [
    `${known.type}: ${inWordsOfTools(known.message.toWellFormed())}`,
    inDialect(nextStep(known), dialect),
    budgetText(budget),
  ]
  return failed(parts.filter((part) => part !== '').join('\n'))
}

function knownError(error: unknown): ServiceError | null {
  if (error instanceof ServiceError) return error
  // Of JSON that nests deeper than the stack is.
  if (error instanceof RangeError && /call stack/.test(error.message)) {
    return new ValidationError('the arguments nest arrays and objects too deep; send flatter values')
  }
  return null
}

function nextStep(error: ServiceError): string {
  if (error instanceof PreconditionFailedError) return VERSION_MOVED
  return NEXT[error.type] ?? ''
}

function inWordsOfTools(message: string): string {
  return ROUTES.reduce((text, [route, tool]) => text.replace(route, tool), message)
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] }
}
