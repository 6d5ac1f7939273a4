import { Option } from 'commander'
import { DATE_ORDERS } from '../../sheet/transfer/read-file-options.ts'

/** Returns `--date-order`, for commands that read files. */
export function dateOrderOption(): Option {
  return new Option(
    '--date-order <order>',
    'whether day or month comes first in dates such as 03/04/2024 (default: as in other dates of the column)',
  ).choices(DATE_ORDERS)
}
