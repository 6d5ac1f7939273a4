import { messageWithHint, type Hint, type ServiceError } from '../../errors/service-error.ts'

/** The message of an error, with the command that helps. */
export function errorText(error: ServiceError): string {
  return messageWithHint(error, commandOf)
}

function commandOf(hint: Hint): string {
  switch (hint.action) {
    case 'list_runs':
      return '`colophon runs` lists them'
    case 'get_run':
      return '`colophon runs` shows it'
    case 'cancel_run':
      return '`colophon runs --cancel` cancels it'
    case 'remove_with_derivation':
      return '`colophon field remove --derivation` does that'
    case 'list_entries':
      return '`colophon provenance --history` lists the entries of a cell'
  }
}
