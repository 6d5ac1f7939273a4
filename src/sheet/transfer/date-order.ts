export { DATE_ORDERS, type DateOrder } from '../../files/notation/foreign-moment.ts'
