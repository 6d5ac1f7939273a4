export { DATE_ORDERS, type DateOrder } from '../files/foreign-moment.ts'
