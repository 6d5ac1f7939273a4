export { BLANKS, type Blank, type ReadFileOptions } from '../../files/io/read-options.ts'
export { isEncoding } from '../../files/io/read-text.ts'
export { DATE_ORDERS, type DateOrder } from '../../contract/values/foreign-moment.ts'
