mod solids;
