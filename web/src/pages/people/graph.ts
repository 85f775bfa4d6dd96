import type { Schemas } from "../../api/client";

export type NameGraph = Schemas["NameGraph"];
