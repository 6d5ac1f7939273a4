import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ErrorCode, ErrorType } from '../../errors/codes.ts'
import { messageWithHint, ServiceError, type Hint } from '../../errors/service-error.ts'
import { DIALECT, inDialect, type SqlDialect } from '../../wire/schema/dialect.ts'
import type { BudgetAnswer } from '../../wire/tool-answers.ts'
import { budgetText } from './call-budget.ts'

/** The next step of an agent after an error of a type, where the message does not name it. */
const NEXT: Readonly<Partial<Record<ErrorType, string>>> = {
  ContractError: 'A file of the sheet is not valid: ask a person to fix it. The message has the position.',
  RecordsError: 'The store of the sheet has a problem: report it to the person who runs this server.',
  QueryError: `The dialect is ${DIALECT}, the only table is records, and get_contract lists its columns. Send one SELECT; pass values in params.`,
  PermissionDeniedError:
    'get_permissions lists what you may write. For the rest, ask a person with the permission.',
}

/** The next step after errors with these codes, in place of that of their type; empty for none. */
const NEXT_OF_CODE: Readonly<Partial<Record<ErrorCode, string>>> = {
  unknown_proposal: 'list_proposals lists them.',
  unknown_record: 'list_records and query return the ids of records.',
  store_away: 'Try again later.',
  store_in_use: 'Try again later.',
  run_stopped: 'list_run_failures lists the failed calls.',
  run_in_progress: 'list_runs shows the active run. Try again when it has ended.',
  version_mismatch:
    'get_record returns the record and the version for if_version, get_derivation those of a derivation file, a dry run that of the contract.',
  unknown_field: 'get_contract lists the fields.',
  query_timeout: 'Select fewer records or simplify the statement.',
  query_memory: 'Select fewer records or simplify the statement.',
  result_too_large: '',
  too_many_queries: '',
  own_proposal: '',
}

/** Returns the tool that a hint refers to. */
export function toolOf(hint: Hint): string {
  switch (hint.action) {
    case 'list_runs':
      return 'list_runs lists them'
    case 'get_run':
      return 'get_run shows it'
    case 'cancel_run':
      return 'cancel_run cancels it'
    case 'remove_with_derivation':
      return 'remove_field with derivations does that'
    case 'list_entries':
      return 'get_provenance lists the entries of a cell'
  }
}

/** Converts an error to a tool result: the message, the next step, and the state of the budget. */
export function toolError(
  error: unknown,
  budget: BudgetAnswer | null,
  { dialect, log }: { readonly dialect: SqlDialect; readonly log: (error: unknown) => void },
): CallToolResult {
  if (!(error instanceof ServiceError)) {
    log(error)
    return failed(
      'ServiceError: internal error. This is a bug of the server; report it to the person who runs it.',
    )
  }
  const { type, code } = error
  const parts = [
    `${type}: ${messageWithHint(error, toolOf).toWellFormed()}`,
    inDialect(NEXT_OF_CODE[code] ?? NEXT[type] ?? '', dialect),
    budgetText(budget),
  ]
  return failed(parts.filter((part) => part !== '').join('\n'))
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] }
}
