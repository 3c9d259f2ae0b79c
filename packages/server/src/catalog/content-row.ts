// Content as it is stored, and how it is shown.
import type { Content, ContentType } from "@coinslot/contract";
import type { Queryable } from "../database/connect.ts";

export interface ContentRow {
  readonly contentIdentifier: string;
  readonly type: ContentType;
  readonly title: string;
  readonly priceAmount: number;
  readonly priceCurrency: string;
  readonly files: string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export function contentColumns(sql: Queryable) {
  return sql`content_identifier, type, title, price_amount, price_currency, files, created_at, updated_at`;
}

export function showContent(row: ContentRow): Content {
  return {
    contentIdentifier: row.contentIdentifier,
    type: row.type,
    title: row.title,
    price: { amount: row.priceAmount, currency: row.priceCurrency },
    files: row.files,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
