/*
 * For test/t/038_libraries.pl: a library that plans some tables in its own way, as TimescaleDB and
 * Citus do. It is written in C because it is no part of the extension.
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "utils/lsyscache.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

static set_rel_pathlist_hook_type previous_paths = NULL;
static planner_hook_type previous_planner = NULL;

static bool
is_named(const RangeTblEntry *entry, const char *name)
{
	const char *found = entry->rtekind == RTE_RELATION ? get_rel_name(entry->relid) : NULL;

	return found && strcmp(found, name) == 0;
}

/* Replaces all paths of the table `elsewhere` by one: a sequential scan below an Append. */
static void
make_paths(PlannerInfo *root, RelOptInfo *table, Index number, RangeTblEntry *entry)
{
	if (previous_paths)
		previous_paths(root, table, number, entry);
	if (is_named(entry, "elsewhere"))
	{
		AppendPath *append = makeNode(AppendPath);
		Path	   *scan = create_seqscan_path(root, table, NULL, 0);

		append->path = *scan;
		append->path.type = T_AppendPath;
		append->path.pathtype = T_Append;
		append->subpaths = list_make1(scan);
		append->first_partial_path = 1;
		append->limit_tuples = -1.0;
		table->pathlist = list_make1(append);
		table->partial_pathlist = NIL;
	}
}

/* Marks the range table entries of the table `marked`, as a library does to find its tables later. */
static bool
mark(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		if (is_named((RangeTblEntry *) node, "marked"))
			((RangeTblEntry *) node)->values_lists = list_make1(list_make1_int(1));
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, mark, context, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, mark, context);
}

#if PG_VERSION_NUM >= 190000
#define WITH_EXPLAIN(...) __VA_ARGS__, struct ExplainState *explained
#define GIVE_EXPLAIN(...) __VA_ARGS__, explained
#else
#define WITH_EXPLAIN(...) __VA_ARGS__
#define GIVE_EXPLAIN(...) __VA_ARGS__
#endif

static PlannedStmt *
plan(WITH_EXPLAIN(Query *query, const char *text, int options, ParamListInfo parameters))
{
	mark((Node *) query, NULL);
	return previous_planner ? previous_planner(GIVE_EXPLAIN(query, text, options, parameters))
		: standard_planner(GIVE_EXPLAIN(query, text, options, parameters));
}

void
_PG_init(void)
{
	previous_paths = set_rel_pathlist_hook;
	set_rel_pathlist_hook = make_paths;
	previous_planner = planner_hook;
	planner_hook = plan;
}
